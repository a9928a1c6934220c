import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { selfSigned } from '../../harness/certificate.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import type { TestServer } from '../../harness/server.ts'
import { startNats } from '../../harness/store-servers.ts'
import { outageContract } from '../outages.ts'
import { returnerContract } from '../returner.ts'
import { type ServerFiles, tlsContract } from '../tls.ts'

const folder = await temporaryFolder('salt-ts-nats-')
afterAll(() => removeFolder(folder))

await returnerContract({
  name: 'nats',
  needs: program('nats-server'),
  async prepare() {
    const server = await startNats('max_payload: 8MB\nauthorization { user: salt, password: geheim }')
    const servers = [`127.0.0.1:${server.port}`]
    const client = await connect({ servers, user: 'salt', pass: 'geheim' })
    const manager = await jetstreamManager(client)
    const count = async (stream: string, subject: string) => {
      const { state } = await manager.streams.info(stream, { subjects_filter: subject })
      return Array.from({ length: Object.values(state.subjects ?? {}).reduce((a, b) => a + b, 0) })
    }
    return {
      config: { nats: { servers, user: 'salt', password: 'geheim' } },
      rows: (jid, id) => count('SALT_JOBS', `salt.return.${jid}.${id}`),
      events: (tag) => count('SALT_EVENTS', `salt.event.${tag.replaceAll('/', '.')}`),
      putJunk: (cluster) =>
        jetstream(client).publish(`salt.cluster.${encodeURIComponent(cluster)}.%`, 'junk'),
      drop: async () => {
        await client.close()
        await server.drop()
      },
    }
  },
  wrongCredentials: (config) => ({ ...config, nats: { ...(config.nats as object), password: 'falsch' } }),
})

const ret = aReturn({ jid: '20300101000000000001', id: 'web1.example.com' })

describe('the returner nats and its server', needs(program('nats-server')), () => {
  let server: TestServer
  let returner: Returner
  beforeAll(async () => {
    server = await startNats()
    returner = await returnerWith('nats', { nats: { servers: `127.0.0.1:${server.port}`, timeout: 1 } })
  })
  afterAll(async () => {
    await returner.close?.()
    await server.drop()
  })
  test('reports that it was not migrated', async () => {
    await expect(returner.save(ret)).rejects.toThrow(
      `NATS at 127.0.0.1:${server.port}: no stream receives this subject. Turn JetStream on, then run: salt-run returner.migrate nats`,
    )
    expect(await returner.migrate?.()).toEqual([
      'Created the stream SALT_JOBS.',
      'Created the stream SALT_EVENTS.',
      'Created the stream SALT_CLUSTER.',
    ])
  })

  test('sends each return under a subject of its job and minion, each event under a subject of its tag', async () => {
    const client = await connect({ servers: `127.0.0.1:${server.port}` })
    const subjects: string[] = []
    const listening = client.subscribe('salt.>', { max: 2 })
    await client.flush()
    await returner.save(ret)
    await returner.saveEvents?.([{ tag: 'salt/job/1/ret/web 1.*', data: {} }], 'one')
    for await (const message of listening) subjects.push(message.subject)
    expect(subjects).toEqual([
      'salt.return.20300101000000000001.web1%2Eexample%2Ecom',
      'salt.event.salt.job.1.ret.web%201%2E%2A',
    ])
    await client.close()
  })

  test('returns a job of 5,000 returns', async () => {
    const rets = Array.from({ length: 5000 }, (_, n) => ({ ...ret, jid: '5000', id: `m${n}` }))
    for (let at = 0; at < rets.length; at += 500) await returner.saveBatch?.(rets.slice(at, at + 500))
    expect(new Set((await returner.getJid?.('5000'))?.map(({ id }) => id))).toHaveLength(5000)
  })

  test('does not save a return that is larger than the server accepts', async () => {
    await expect(returner.save({ ...ret, return: 'x'.repeat(2_000_000) })).rejects.toMatchObject({
      code: 'UNSAVABLE',
    })
  })

  outageContract({
    name: 'nats',
    server: () => server,
    returner: () => returner,
    says: 'NATS',
    nowhere: { 'nats.servers': ['127.0.0.1:1'] },
  })
})

const startSecure = ({ cert, key, clients }: ServerFiles) => {
  const verify = clients ? `ca_file: "${clients}", verify: true` : ''
  return startNats(`tls { cert_file: "${cert}", key_file: "${key}", ${verify} }`)
}

tlsContract({
  name: 'nats',
  program: 'nats-server',
  start: startSecure,
  config: (port, options) => ({ nats: { servers: `127.0.0.1:${port}`, ...options } }),
  says: 'no answer within 2 seconds', // Its library does not tell more.
  use: async (returner) => await returner.migrate?.(),
})

describe('the returner nats and servers with names', needs(program('nats-server')), () => {
  const migrate = async (servers: readonly string[], options: object) => {
    const returner = await returnerWith('nats', { nats: { servers, ...options } })
    await (returner.migrate?.() ?? Promise.reject()).finally(() => returner.close?.())
  }

  test('accepts the certificate of a host name for that name, and for no address', async () => {
    const files = await selfSigned(folder, 'DNS:localhost')
    const server = await startSecure(files)
    await migrate([`localhost:${server.port}`], { ssl_ca: files.cert })
    await expect(migrate([`tls://127.0.0.1:${server.port}`], { ssl_ca: files.cert })).rejects.toThrow(
      "Hostname/IP does not match certificate's altnames",
    )
    await server.drop()
  })

  test('refuses a server without TLS', async () => {
    const plain = await startNats()
    await expect(migrate([`localhost:${plain.port}`], { ssl: true })).rejects.toThrow(
      ': the server has no TLS',
    )
    await plain.drop()
  })
})
