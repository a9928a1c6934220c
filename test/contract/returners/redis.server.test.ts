import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { freePort } from '../../harness/ports.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import type { TestServer } from '../../harness/server.ts'
import { startRedis, startRedisWithTls } from '../../harness/store-servers.ts'
import { until } from '../../harness/until.ts'
import { outageContract } from '../outages.ts'
import { returnerContract } from '../returner.ts'
import { tlsContract } from '../tls.ts'

await returnerContract({
  name: 'redis',
  needs: program('redis-server'),
  async prepare() {
    const server = await startRedis('--requirepass', 'geheim')
    const client = new Redis({ host: '127.0.0.1', port: server.port, password: 'geheim', db: 3 })
    return {
      config: {
        redis: { host: '127.0.0.1', port: server.port, password: 'geheim', db: '3' },
      },
      rows: async (jid, id) => [await client.hget(`ret:${jid}`, id)].filter((text) => text !== null),
      events: async (tag) =>
        (await client.xrange('{salt_events}', '-', '+')).filter(([, fields]) => fields.includes(tag)),
      setRevision: (cluster, key, revision) =>
        client.zadd(`{salt_cluster:${cluster}}:revisions`, revision, key),
      async putJunk(cluster, bytes) {
        await client.hset(`{salt_cluster:${cluster}}:values`, 'junk', 'x'.repeat(bytes))
        const revision = await client.incr(`{salt_cluster:${cluster}}:last`)
        await client.zadd(`{salt_cluster:${cluster}}:revisions`, revision, 'junk')
      },
      canBeLong: true,
      damages: [
        ...['values', 'revisions'].map(
          (name) => (cluster: string) => client.set(`{salt_cluster:${cluster}}:${name}`, 'x'),
        ),
        ...['x', '9007199254740991', '-1', '1.5'].map(
          (last) => (cluster: string) => client.set(`{salt_cluster:${cluster}}:last`, last),
        ),
        (cluster) =>
          client.rpush(`{salt_cluster:${cluster}}:last`, 'x').catch(async () => {
            await client.del(`{salt_cluster:${cluster}}:last`)
            await client.rpush(`{salt_cluster:${cluster}}:last`, 'x')
          }),
      ],
      damagedRevisions: ['1000', '9007199254740991', '0.5', '17.5', '0', '-5', '1e300', 'inf', '-inf'],
      drop: async () => {
        client.disconnect()
        await server.drop()
      },
    }
  },
  wrongCredentials: (config) => ({ ...config, redis: { ...(config.redis as object), password: 'falsch' } }),
})

const ret = aReturn({ jid: '20300101000000000001' })

describe('the returner redis and its server', needs(program('redis-server')), () => {
  let server: TestServer
  let client: Redis
  let returner: Returner
  let folder: string
  const config = () => ({ 'redis.host': '127.0.0.1', 'redis.port': server.port, 'redis.timeout': 1 })
  beforeAll(async () => {
    folder = await temporaryFolder('salt-ts-redis-')
    server = await startRedis('--unixsocket', join(folder, 'socket'))
    client = new Redis(server.port, '127.0.0.1')
    client.on('error', () => undefined)
    returner = await returnerWith('redis', config())
  })
  afterEach(async () => await until('Redis', () => client.flushall().then(Boolean, () => false)))
  afterAll(async () => {
    await returner.close?.()
    client.disconnect()
    await server.drop()
    await removeFolder(folder)
  })

  test('writes the keys that Salt writes, which expire when jobs do', async () => {
    await returner.save(ret)
    await returner.saveLoad?.({ jid: ret.jid, load: { jid: ret.jid, fun: 'test.ping' }, minions: ['web1'] })
    expect((await client.keys('*')).sort()).toEqual([
      'load:20300101000000000001',
      'minions',
      'ret:20300101000000000001',
      'web1:test.ping',
    ])
    expect(JSON.parse((await client.hget(`ret:${ret.jid}`, 'web1')) ?? '')).toEqual(ret)
    expect(await client.get('web1:test.ping')).toBe(ret.jid)
    expect(await client.smembers('minions')).toEqual(['web1'])
    expect(await client.ttl(`ret:${ret.jid}`)).toBeGreaterThan(86_000)
    expect(await client.ttl(`load:${ret.jid}`)).toBeGreaterThan(86_000)
  })

  test("reads keys of Python's returner", async () => {
    await client.hset(`ret:${ret.jid}`, 'db1', JSON.stringify({ ...ret, id: 'db1' }))
    await client.set('db1:test.ping', ret.jid)
    await client.sadd('minions', 'db1')
    await client.setex(`load:${ret.jid}`, 60, JSON.stringify({ jid: ret.jid, fun: 'test.ping', tgt: '*' }))
    expect(await returner.getJid?.(ret.jid)).toEqual([{ ...ret, id: 'db1' }])
    expect(await returner.getFun?.('test.ping')).toEqual([{ ...ret, id: 'db1' }])
    expect(await returner.getLoad?.(ret.jid)).toEqual({
      jid: ret.jid,
      load: { jid: ret.jid, fun: 'test.ping', tgt: '*' },
      minions: [],
    })
  })

  test('keeps jobs for ever with keep_jobs_seconds: 0', async () => {
    const forever = await returnerWith('redis', { ...config(), keep_jobs_seconds: 0 })
    await forever.save(ret)
    await forever.cleanOldJobs?.(new Date(Date.now() + 3_600_000))
    expect(await client.ttl(`ret:${ret.jid}`)).toBe(-1)
    await forever.close?.()
  })

  test('returns a job of 5,000 returns', async () => {
    const rets = Array.from({ length: 5000 }, (_, n) => ({ ...ret, id: `m${n}` }))
    for (let at = 0; at < rets.length; at += 500) await returner.saveBatch?.(rets.slice(at, at + 500))
    expect(await returner.getJid?.(ret.jid)).toHaveLength(5000)
  })

  test('connects by a unix socket', async () => {
    const local = await returnerWith('redis', { 'redis.unix_socket_path': join(folder, 'socket') })
    await local.save(ret)
    expect(await client.hlen(`ret:${ret.jid}`)).toBe(1)
    await local.close?.()
  })

  test('names the certificate file that is missing', async () => {
    await expect(returnerWith('redis', { ...config(), 'redis.ssl_ca': '/no/ca.pem' })).rejects.toThrow(
      'The returner redis cannot be opened: the file of ssl_ca, /no/ca.pem, cannot be read (ENOENT)',
    )
  })

  outageContract({
    name: 'redis',
    server: () => server,
    returner: () => returner,
    says: 'Redis',
    nowhere: { 'redis.host': '127.0.0.1', 'redis.port': 1 },
  })
})

tlsContract({
  name: 'redis',
  program: 'redis-server',
  start: ({ cert, key, clients }) =>
    startRedisWithTls(
      ...['--tls-cert-file', cert, '--tls-key-file', key],
      ...['--tls-ca-cert-file', clients ?? cert, '--tls-auth-clients', clients ? 'yes' : 'no'],
    ),
  config: (port, options) => ({ redis: { host: '127.0.0.1', port, ...options } }),
})

describe('the returner redis with a cluster', needs(program('redis-server')), () => {
  let servers: TestServer[] = []
  beforeAll(async () => {
    const buses = await Promise.all([freePort(), freePort(), freePort()])
    servers = await Promise.all(
      buses.map((bus) =>
        startRedis(
          ...['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-port', `${bus}`],
        ),
      ),
    )
    const nodes = servers.map(({ port }) => new Redis(port, '127.0.0.1'))
    const share = Math.ceil(16_384 / nodes.length)
    for (const [n, node] of nodes.entries()) {
      await node.cluster('ADDSLOTSRANGE', n * share, Math.min((n + 1) * share, 16_384) - 1)
      await node.call('cluster', 'SET-CONFIG-EPOCH', n + 1) // Refused once it knows another.
    }
    for (const node of nodes) await node.cluster('MEET', '127.0.0.1', servers[0]?.port ?? 0, buses[0] ?? 0)
    for (const node of nodes)
      await until(
        'a whole cluster',
        async () =>
          `${await node.cluster('INFO')}`.includes('cluster_state:ok') &&
          `${await node.cluster('INFO')}`.includes('known_nodes:3'),
      )
    for (const node of nodes) node.disconnect()
  })
  afterAll(async () => {
    for (const server of servers) await server.drop()
  })

  test('writes and reads keys of all nodes', async () => {
    const redis = {
      cluster_mode: true,
      cluster: { startup_nodes: [{ host: '127.0.0.1', port: servers[0]?.port }] },
    }
    const returner = await returnerWith('redis', { redis })
    const jids = Array.from({ length: 30 }, (_, n) => `203001010000000000${10 + n}`)
    for (const jid of jids)
      await returner.saveLoad?.({ jid, load: { jid, fun: 'test.ping' }, minions: ['m1'] })
    await returner.saveBatch?.(jids.map((jid, n) => ({ ...ret, jid, id: `m${n}` })))
    await returner.saveEvents?.([{ tag: 'a', data: {} }], 'one')
    const found: string[] = []
    for await (const { jid } of returner.getJids?.() ?? []) found.push(jid)
    expect(found).toEqual(jids.toReversed())
    expect(await returner.getFun?.('test.ping')).toHaveLength(30)
    await returner.cleanOldJobs?.(new Date(Date.now() + 3_600_000))
    expect(await returner.getJidsFilter?.(10, true)).toEqual([])
    await returner.close?.()
  })
})
