import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { fromRecordJson } from '../../../core/dialect/record-json.ts'
import { selfSigned } from '../../harness/certificate.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type Asked, type HttpServer, httpServer } from '../../harness/http-server.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import { SLOW } from '../../harness/slow.ts'
import { returnerContract } from '../returner.ts'

const secret = `whsec_${Buffer.from('a key of thirty-two bytes, or so').toString('base64')}`

interface Posted {
  readonly type: string
  readonly data: readonly Readonly<Record<string, unknown>>[]
}
const postedIn = ({ body }: Asked) => fromRecordJson(body) as Posted

/** As receivers do it: once per id, and nothing that is not signed. */
function receiver() {
  const seen = new Map<unknown, Posted>()
  const receive = (asked: Asked) => {
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = asked.headers
    const key = Buffer.from(secret.slice(6), 'base64')
    const expected = createHmac('sha256', key).update(`${id}.${time}.${asked.body}`).digest('base64')
    if (signature !== `v1,${expected}`) return { status: 401, text: 'The signature is wrong.' }
    seen.set(id, postedIn(asked))
    return { status: 204 }
  }
  const records = (type: string) =>
    [...seen.values()].filter((each) => each.type === type).flatMap(({ data }) => data)
  return { receive, records }
}

await returnerContract({
  name: 'http',
  wrongCredentials: (config) => ({ ...config, 'http.secret': 'wrong' }),
  async prepare() {
    const { receive, records } = receiver()
    const server = await httpServer(receive)
    return {
      config: { 'http.url': server.url, 'http.secret': secret },
      rows: async (jid, id) => records('returns').filter((ret) => ret.jid === jid && ret.id === id),
      events: async (tag) => records('events').filter((event) => event.tag === tag),
      drop: server.close,
    }
  },
})

describe('http', () => {
  const ret = aReturn({ jid: '20300101000000000000', return: 1 })
  const open: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close()
  })
  const served = async (...args: Parameters<typeof httpServer>): Promise<HttpServer> => {
    const server = await httpServer(...args)
    open.push(server)
    return server
  }

  test('gives a repeated request the same id, with a time of its own', async () => {
    const asked: Asked[] = []
    const { url } = await served((one) => {
      asked.push(one)
      return { status: 204 }
    })
    const http = await returnerWith('http', { http: { url, headers: { 'X-Team': 'ops' } }, id: 'master1' })
    await http.saveBatch?.([ret, { ...ret, id: 'web2' }])
    await http.saveBatch?.([ret, { ...ret, id: 'web2' }])
    await http.save({ ...ret, return: 2 })
    const ids = asked.map(({ headers }) => headers['idempotency-key'])
    expect(ids[0]).toBe(ids[1])
    expect(ids[2]).not.toBe(ids[0])
    expect(asked[0]?.headers).toMatchObject({ 'x-team': 'ops', 'content-type': 'application/json' })
    expect(asked[0]?.headers).not.toHaveProperty('webhook-signature')
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      type: 'returns',
      from: 'master1',
      data: [ret, { ...ret, id: 'web2' }],
    })
    await http.close?.()
  })

  test.each([
    [413, 'UNSAVABLE'],
    [400, 'UNSAVABLE'],
    [401, undefined],
    [429, undefined],
    [503, undefined],
    [302, undefined],
  ])('treats the status %i as permanent or temporary', async (status, code) => {
    const { url, port } = await served(() => ({ status, text: 'Why it is so.' }))
    const http = await returnerWith('http', { 'http.url': url.replace('//', '//user:hidden@') })
    const error = await http.save(ret).catch((thrown: Error & { code?: string }) => thrown)
    expect(error).toMatchObject({ message: `127.0.0.1:${port} answered ${status}: Why it is so.` })
    expect(error?.code).toBe(code)
    await http.close?.()
  })

  test('gives up waiting for a receiver that hangs', SLOW, async () => {
    const { url, port } = await served(() => undefined)
    const http = await returnerWith('http', { http: { url, timeout: 0.2 } })
    await expect(http.save(ret)).rejects.toThrow(`127.0.0.1:${port}: no answer within 0.2 seconds`)
    await http.close?.()
  })

  test('names an address that refuses connections, and works again once it accepts them', async () => {
    const gone = await served(() => ({}))
    const http = await returnerWith('http', { 'http.url': gone.url })
    await http.save(ret)
    await gone.close()
    await expect(http.save(ret)).rejects.toThrow(`127.0.0.1:${gone.port}: connect ECONNREFUSED`)
    await served(() => ({}), { port: gone.port })
    await http.save(ret)
    await http.close?.()
  })

  test('checks the certificate of the receiver', async () => {
    const folder = await temporaryFolder('salt-ts-http-')
    const { cert, key } = await selfSigned(folder)
    const { url } = await served(() => ({}), {
      cert: { cert: await readFile(cert), key: await readFile(key) },
    })
    const saved = async (options: object) => {
      const http = await returnerWith('http', { http: { url, ...options } })
      await http.save(ret).finally(() => http.close?.())
    }
    await expect(saved({})).rejects.toThrow('self-signed certificate')
    await saved({ ssl_ca: cert })
    await saved({ insecure: true })
    await removeFolder(folder)
  })

  test('refuses an invalid address without showing it', async () => {
    const opened = returnerWith('http', { 'http.url': 'ftp://user:hidden@host' })
    await expect(opened).rejects.toThrow('http.url must be a URL that begins with http:// or https://')
    await expect(opened).rejects.not.toThrow('hidden')
  })
})
