import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReturnRecord } from '../../../core/author/returner.ts'
import { fromRecordJson } from '../../../core/dialect/record-json.ts'
import { type Certificate, selfSigned } from '../../harness/certificate.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { returnerWith } from '../../harness/returner.ts'
import { type Rsyslog, startRsyslog } from '../../harness/rsyslog.ts'
import { until } from '../../harness/until.ts'
import { returnerContract } from '../returner.ts'

const folder = await temporaryFolder('salt-ts-syslog-')
const certificate: Certificate = await selfSigned(folder)
afterAll(() => removeFolder(folder))

await returnerContract({
  name: 'syslog',
  needs: program('rsyslogd'),
  async prepare() {
    const server = await startRsyslog(certificate)
    return {
      config: { syslog: { host: '127.0.0.1', port: server.port, protocol: 'tcp' } },
      rows: async (jid) => (await server.lines()).filter(({ text }) => text.includes(jid)),
      events: async (tag) => (await server.lines()).filter(({ text }) => text.includes(tag)),
      drop: server.drop,
    }
  },
})

describe('syslog', needs(program('rsyslogd')), () => {
  let server: Rsyslog
  let last = 0
  beforeAll(async () => {
    server = await startRsyslog(certificate)
  })
  afterAll(() => server.drop())

  const aReturn = (changes: object = {}): ReturnRecord => {
    const jid = String(20300101000000000000n + BigInt(last++))
    return {
      jid,
      id: 'web1',
      fun: 'test.echo',
      fun_args: [],
      return: 'ü',
      retcode: 0,
      success: true,
      ...changes,
    }
  }
  async function saved(options: object, ret = aReturn()): Promise<void> {
    const syslog = await returnerWith('syslog', { syslog: options })
    await syslog.save(ret)
  }
  const arrived = ({ jid }: ReturnRecord) =>
    until('the message', async () => (await server.lines()).find(({ text }) => text.includes(jid)))

  const ways = () => ({
    'the socket of the host': { socket: server.socket },
    UDP: { host: '127.0.0.1', port: server.port },
    TCP: { host: '127.0.0.1', port: server.port, protocol: 'tcp' },
    TLS: { host: '127.0.0.1', port: server.tlsPort, protocol: 'tls', ssl_ca: certificate.cert },
    'TCP as RFC 3164 has it': { host: '127.0.0.1', port: server.port, protocol: 'tcp', format: 'rfc3164' },
  })
  test.each(['the socket of the host', 'UDP', 'TCP', 'TLS', 'TCP as RFC 3164 has it'] as const)(
    'reaches a server over %s, with what Salt can set',
    async (way) => {
      const ret = aReturn()
      const chosen = { level: 'LOG_ERR', facility: 'LOG_DAEMON', tag: 'mysalt', options: ['LOG_PID'] }
      await saved({ ...ways()[way], ...chosen }, ret)
      const line = await arrived(ret)
      expect(line).toMatchObject({ priority: '27', tag: 'mysalt', pid: String(process.pid) })
      expect(fromRecordJson(line.text)).toEqual(ret)
    },
  )

  test('has by default the severity info, the facility user and the tag salt-minion', async () => {
    const ret = aReturn()
    await saved({ socket: server.socket }, ret)
    expect(await arrived(ret)).toMatchObject({ priority: '14', tag: 'salt-minion', pid: '-' })
  })

  test('sends what is saved at once in order', async () => {
    const syslog = await returnerWith('syslog', { syslog: { socket: server.socket } })
    const rets = Array.from({ length: 100 }, () => aReturn())
    await syslog.saveBatch?.(rets)
    await arrived(rets.at(-1) as ReturnRecord)
    const jids = (await server.lines()).map(({ text }) => (fromRecordJson(text) as ReturnRecord).jid)
    expect(jids.slice(-100)).toEqual(rets.map(({ jid }) => jid))
  })

  test.each(['the socket of the host', 'UDP'] as const)(
    'refuses permanently a return that is too large for %s',
    async (way) => {
      const large = aReturn({ return: 'x'.repeat(300_000) })
      await expect(saved(ways()[way], large)).rejects.toMatchObject({
        code: 'UNSAVABLE',
        message: expect.stringMatching(/A message of \d+ bytes does not fit into a datagram/),
      })
    },
  )

  test('names the server that is down', async () => {
    await expect(saved({ socket: join(folder, 'none') })).rejects.toThrow(
      `syslog at ${join(folder, 'none')}: `,
    )
    await expect(saved({ host: '127.0.0.1', port: 1, protocol: 'tcp' })).rejects.toThrow(
      'syslog at 127.0.0.1:1: connect ECONNREFUSED',
    )
  })

  test('checks the certificate of a server', async () => {
    const unknown = { host: '127.0.0.1', port: server.tlsPort, protocol: 'tls' }
    await expect(saved(unknown)).rejects.toThrow('self-signed certificate')
    await saved({ ...unknown, insecure: true })
  })

  test('gives up waiting for a server that hangs, and works again when it answers', async () => {
    const options = { host: '127.0.0.1', port: server.port, protocol: 'tcp', timeout: 0.3 }
    await server.pause()
    try {
      await expect(saved(options)).rejects.toThrow('no answer within 0.3 seconds')
    } finally {
      server.resume()
    }
    const ret = aReturn()
    await saved({ ...options, timeout: 10 }, ret)
    await arrived(ret)
  })

  test('refuses a tag that could be mistaken for another one', async () => {
    await expect(returnerWith('syslog', { 'syslog.tag': 'two words' })).rejects.toThrow('syslog.tag is wrong')
  })
})
