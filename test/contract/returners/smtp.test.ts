import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { selfSigned } from '../../harness/certificate.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { mailServer } from '../../harness/mail-server.ts'
import { freePort } from '../../harness/ports.ts'
import { returnerWith } from '../../harness/returner.ts'
import { SLOW } from '../../harness/slow.ts'
import { returnerContract } from '../returner.ts'

const addresses = { host: '127.0.0.1', from: 'salt@example.net', to: 'ops@example.net' }

await returnerContract({
  name: 'smtp',
  wrongCredentials: (config) => ({ ...config, 'smtp.password': 'wrong' }),
  async prepare() {
    const { port, mails, close } = await mailServer({ allowInsecureAuth: true })
    return {
      config: { smtp: { ...addresses, port }, 'smtp.username': 'salt', 'smtp.password': 'right' },
      rows: async (jid) => mails.filter(({ text }) => text.includes(jid)),
      events: async (tag) => mails.filter(({ text }) => text.includes(tag)),
      drop: close,
    }
  },
})

describe('smtp', () => {
  const ret = {
    jid: '20300101000000000000',
    id: 'web1',
    fun: 'test.ping',
    fun_args: ['ü'],
    return: true,
    retcode: 0,
    success: true,
  }
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close()
  })
  const served = async (...args: Parameters<typeof mailServer>) => {
    const server = await mailServer(...args)
    open.unshift(server)
    return server
  }
  const opened = async (port: number, options: object = {}) => {
    const { save, saveEvents, close } = await returnerWith('smtp', {
      smtp: { ...addresses, port, ...options },
    })
    const smtp = { save, saveEvents, close: async () => close?.() }
    open.unshift(smtp)
    return smtp
  }

  test("sends Salt's text to all recipients", async () => {
    const { port, mails } = await served()
    const smtp = await opened(port, { to: 'ops@example.net, dev@example.net', fields: 'id,fun' })
    await smtp.save({ ...ret, id: 'web1\r\nBcc: all@example.net' })
    await smtp.save(ret)
    expect(mails[0]?.to).toEqual(['ops@example.net', 'dev@example.net'])
    expect(mails[1]?.text.split(/\r?\n/)).toEqual([
      'id: web1',
      'function: test.ping',
      'function args: ["ü"]',
      'jid: 20300101000000000000',
      'return: true',
    ])
    expect(mails[1]?.headers.get('subject')).toBe('Email from Salt web1 test.ping')
    expect(mails[0]?.headers.get('bcc')).toBeUndefined()
  })

  test('fills a template and a subject from the options, also for events', async () => {
    const folder = await temporaryFolder('salt-ts-smtp-')
    await writeFile(join(folder, 'mail'), 'act: {{act}}, id: {{ id }}, none: {{ none }}, {{ constructor }}')
    const { port, mails } = await served()
    const smtp = await opened(port, { template: join(folder, 'mail'), subject: 'Master {{act}}ed {{ id }}' })
    await smtp.saveEvents?.([{ tag: 'salt/key', data: { act: 'accept', id: 'web1' } }], '1')
    expect(mails[0]?.text).toBe('act: accept, id: web1, none: ,')
    expect(mails[0]?.headers.get('subject')).toBe('Master accepted web1')
    await removeFolder(folder)
  })

  test('does not send an accepted mail again, and sends a new return of the same minion', SLOW, async () => {
    const { port, mails } = await served()
    const smtp = await opened(port)
    await smtp.save(ret)
    await smtp.save(ret)
    await smtp.save({ ...ret, return: false })
    expect(mails).toHaveLength(2)
    const again = await opened(port)
    await again.save(ret)
    expect(mails[2]?.headers.get('message-id')).toBe(mails[0]?.headers.get('message-id'))
  })

  const folder = temporaryFolder('salt-ts-smtp-')
  afterAll(async () => removeFolder(await folder))
  test.each([
    ['STARTTLS', { tls: true }, {}],
    ['TLS from the beginning', { ssl: true }, { secure: true }],
  ])('sends and signs in under %s, if the certificate is right', SLOW, async (_, options, serverOptions) => {
    const { cert, key } = await selfSigned(await folder)
    const files = { cert: await readFile(cert), key: await readFile(key), disabledCommands: [] }
    const { port, mails } = await served({ ...files, ...serverOptions })
    const signedIn = { ...options, username: 'salt', password: 'right' }
    await expect((await opened(port, signedIn)).save(ret)).rejects.toThrow('self-signed certificate')
    await (await opened(port, { ...signedIn, ssl_ca: cert })).save(ret)
    expect(mails).toMatchObject([{ user: 'salt', withTls: true }])
  })

  test('sends nothing unencrypted to a server without TLS if TLS is required', async () => {
    const { port, mails } = await served()
    await expect((await opened(port, { tls: true })).save(ret)).rejects.toThrow(`smtp at 127.0.0.1:${port}: `)
    expect(mails).toEqual([])
  })

  test('distinguishes a mail that is refused permanently from a server that is not ready', SLOW, async () => {
    const codes = [552, 451]
    const { port } = await served({
      onData: (stream, _session, done) => {
        stream
          .resume()
          .on('end', () => done(Object.assign(new Error('No.'), { responseCode: codes.shift() })))
      },
    })
    const smtp = await opened(port)
    await expect(smtp.save(ret)).rejects.toMatchObject({
      code: 'UNSAVABLE',
      message: expect.stringContaining('552 No.'),
    })
    await expect(smtp.save(ret)).rejects.toThrow('451 No.')
  })

  test('gives up waiting for a server that hangs', SLOW, async () => {
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    open.push({ close: () => new Promise((done) => server.close(() => done())) })
    const { port } = server.address() as { port: number }
    await expect((await opened(port, { timeout: 0.2 })).save(ret)).rejects.toThrow(
      'no answer within 0.2 seconds',
    )
  })

  test('refuses to start without a required encryption', async () => {
    const encrypted = { smtp: { ...addresses, port: await freePort(), gpgowner: 'root' } }
    await expect(returnerWith('smtp', encrypted)).rejects.toThrow('this returner cannot encrypt mails')
  })
})
