import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { needs, program } from '../../harness/needs.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import type { TestServer } from '../../harness/server.ts'
import { startEtcd } from '../../harness/store-servers.ts'
import { until } from '../../harness/until.ts'
import { outageContract } from '../outages.ts'
import { returnerContract } from '../returner.ts'
import { tlsContract } from '../tls.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

async function told(
  port: number,
  path: string,
  body: object,
): Promise<{ kvs?: { key: string; value: string }[] }> {
  const answer = await fetch(`http://127.0.0.1:${port}/v3/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  return (await answer.json()) as { kvs?: { key: string; value: string }[] }
}

/** Keys that begin so, with their values as text. */
async function keys(port: number, prefix: string): Promise<[string, string][]> {
  const { kvs = [] } = await told(port, 'kv/range', {
    key: base64(prefix),
    range_end: base64(`${prefix}\u{7f}`),
  })
  return kvs.map(({ key, value }) => [atob(key), atob(value)])
}

const started = (port: number) =>
  until('etcd to answer', () =>
    told(port, 'kv/range', { key: base64('a') }).then(
      (answer) => 'header' in answer,
      () => false,
    ),
  )

await returnerContract({
  name: 'etcd',
  needs: program('etcd'),
  async prepare() {
    const server = await startEtcd('http', '--max-request-bytes', '16000000')
    await started(server.port)
    return {
      config: { 'etcd.host': '127.0.0.1', 'etcd.port': server.port },
      rows: async (jid, id) => await keys(server.port, `/salt/return/jobs/${jid}/${id}/return`),
      drop: server.drop,
    }
  },
})

const ret = aReturn({ jid: '20300101000000000001' })

describe('the returner etcd and its server', needs(program('etcd')), () => {
  let server: TestServer
  let returner: Returner
  const config = (more: object = {}) => ({
    etcd: { host: '127.0.0.1', port: server.port, timeout: 2, ...more },
  })
  beforeAll(async () => {
    server = await startEtcd('http')
    await started(server.port)
    returner = await returnerWith('etcd', config())
  })
  afterAll(async () => {
    await returner.close?.()
    await server.drop()
  })
  test('writes the keys that Salt writes, as plain text with encode_values: false', async () => {
    const plain = await returnerWith(
      'etcd',
      config({ encode_values: false, returner_root: '/plain', ttl: 600 }),
    )
    await plain.save(ret)
    const field = (name: string) => `/plain/jobs/${ret.jid}/web1/${name}`
    expect(await keys(server.port, '/plain/')).toEqual([
      [field('fun'), '"test.ping"'],
      [field('fun_args'), '[]'],
      [field('id'), '"web1"'],
      [field('jid'), `"${ret.jid}"`],
      [field('retcode'), '0'],
      [field('return'), 'true'],
      [field('success'), 'true'],
      ['/plain/minions/web1', ret.jid],
    ])
    await plain.close?.()
  })

  test("reads keys of Python's returner", async () => {
    const put = (key: string, value: string) =>
      told(server.port, 'kv/put', {
        key: base64(`/salt/return/${key}`),
        value: Buffer.from(value, 'latin1').toString('base64'),
      })
    await put('jobs/1/db1/return', '\xa4true')
    await put('jobs/1/db1/id', '\xa5"db1"')
    await put('jobs/1/db1/fun', '\xd9\x0b"test.ping"')
    await put('minions/db1', '\xa11')
    expect(await returner.getJid?.('1')).toEqual([{ return: true, id: 'db1', fun: 'test.ping' }])
    expect(await returner.getFun?.('test.ping')).toContainEqual({ return: true, id: 'db1', fun: 'test.ping' })
  })

  test('does not save a return that exceeds the limit of the server', async () => {
    const patient = await returnerWith('etcd', config({ timeout: 60 }))
    await expect(patient.save({ ...ret, return: 'x'.repeat(2_000_000) })).rejects.toMatchObject({
      code: 'UNSAVABLE',
    })
    await patient.close?.()
  })

  outageContract({
    name: 'etcd',
    server: () => server,
    returner: () => returner,
    says: 'etcd',
    nowhere: { 'etcd.host': '127.0.0.1', 'etcd.port': 1 },
  })
})

describe('the returner etcd and a server that asks for users', needs(program('etcd')), () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startEtcd('http')
    await started(server.port)
    await told(server.port, 'auth/role/add', { name: 'root' })
    await told(server.port, 'auth/user/add', { name: 'root', password: 'right' })
    await told(server.port, 'auth/user/grant', { user: 'root', role: 'root' })
    await told(server.port, 'auth/enable', {})
  })
  afterAll(() => server.drop())
  const opened = (options: object) =>
    returnerWith('etcd', { etcd: { host: '127.0.0.1', port: server.port, ...options } })

  test('signs in, and again when the server has forgotten it', async () => {
    const returner = await opened({ username: 'root', password: 'right' })
    await returner.save(ret)
    await server.kill()
    await server.start()
    await until('a save', () =>
      returner.save({ ...ret, id: 'web2' }).then(
        () => true,
        () => false,
      ),
    )
    expect(await returner.getJid?.(ret.jid)).toHaveLength(2)
    await returner.close?.()
  })

  test.each([
    [
      'a wrong password',
      { username: 'root', password: 'wrong' },
      'authentication failed, invalid user ID or password',
    ],
    ['no user', {}, 'user name is empty'],
  ])('reports %s', async (_, options, message) => {
    const returner = await opened(options)
    await expect(returner.save(ret)).rejects.toThrow(message)
    await returner.close?.()
  })
})

tlsContract({
  name: 'etcd',
  program: 'etcd',
  async start({ cert, key, clients }) {
    const asking = clients ? ['--client-cert-auth', '--trusted-ca-file', clients] : []
    return await startEtcd('https', '--cert-file', cert, '--key-file', key, ...asking)
  },
  config: (port, options) => ({ etcd: { host: '127.0.0.1', port, ...options } }),
  /** It takes connections before it answers. */
  use: (returner) =>
    until('etcd to answer', async () => {
      const error = await returner.save(ret).catch((failure: Error) => failure)
      if (error && !error.message.endsWith('socket hang up')) throw error
      return error === undefined
    }),
})
