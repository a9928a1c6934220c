import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { recordJson } from '../../../core/dialect/record-json.ts'
import { needs, program } from '../../harness/needs.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import { said } from '../../harness/said.ts'
import type { TestServer } from '../../harness/server.ts'
import { startMemcached } from '../../harness/store-servers.ts'
import { outageContract } from '../outages.ts'
import { returnerContract } from '../returner.ts'
import { tlsContract } from '../tls.ts'

await returnerContract({
  name: 'memcache',
  needs: program('memcached'),
  async prepare() {
    const server = await startMemcached('-I', '16m', '-m', '256')
    return {
      config: { 'memcache.host': '127.0.0.1', 'memcache.port': `${server.port}` },
      rows: async (jid, id) => {
        const answer = await said(server.port, `get ${jid}:${id}\r\n`, /END\r\n$/)
        return answer.match(/^VALUE /gm) ?? []
      },
      drop: server.drop,
    }
  },
})

const ret = aReturn({ jid: '20300101000000000001' })

describe('the returner memcache and its server', needs(program('memcached')), () => {
  let server: TestServer
  let returner: Returner
  const config = () => ({ memcache: { host: '127.0.0.1', port: server.port, timeout: 1 } })
  beforeAll(async () => {
    server = await startMemcached()
    returner = await returnerWith('memcache', config())
  })
  afterAll(async () => {
    await returner.close?.()
    await server.drop()
  })
  const tell = (text: string, until = /(END|STORED|OK)\r\n$/) => said(server.port, text, until)
  test('writes the keys that Salt writes, as text of its client', async () => {
    await returner.save(ret)
    await returner.saveLoad?.({ jid: ret.jid, load: { fun: 'test.ping' }, minions: ['web1'] })
    const json = recordJson(ret)
    const value = (key: string, text: string) => `VALUE ${key} 16 ${text.length}\r\n${text}\r\n`
    expect(await tell(`get ${ret.jid}:web1 test.ping:web1 ${ret.jid}\r\n`)).toBe(
      `${value(`${ret.jid}:web1`, json)}${value('test.ping:web1', json)}${value(ret.jid, '{"fun": "test.ping", "Minions": ["web1"]}')}END\r\n`,
    )
    expect(await tell('get minions jids\r\n')).toContain('\r\nweb1,\r\n')
    expect(await tell('get jids\r\n')).toContain(`\r\n${ret.jid},\r\n`)
  })

  test("reads keys of Python's returner", async () => {
    await tell('flush_all\r\n')
    const json = JSON.stringify({ ...ret, id: 'db1' })
    await tell(`set ${ret.jid}:db1 16 0 ${json.length}\r\n${json}\r\n`)
    await tell('set minions 16 0 8\r\ndb1,db1,\r\n')
    expect(await returner.getMinions?.()).toEqual(['db1'])
    expect(await returner.getJid?.(ret.jid)).toEqual([{ ...ret, id: 'db1' }])
  })

  test('returns a job of 5,000 returns', async () => {
    const rets = Array.from({ length: 5000 }, (_, n) => ({ ...ret, jid: '5000', id: `m${n}` }))
    for (let at = 0; at < rets.length; at += 500) await returner.saveBatch?.(rets.slice(at, at + 500))
    expect(await returner.getJid?.('5000')).toHaveLength(5000)
  })

  test('does not save a return that is larger than the server accepts, and saves the next one', async () => {
    await expect(returner.save({ ...ret, return: 'x'.repeat(2_000_000) })).rejects.toMatchObject({
      code: 'UNSAVABLE',
    })
    await expect(returner.save({ ...ret, id: 'x'.repeat(300) })).rejects.toMatchObject({ code: 'UNSAVABLE' })
    await returner.save(ret)
    expect(await tell('get minions\r\n')).not.toContain('x'.repeat(300))
  })

  test('removes the older half of a list that has become too large', async () => {
    const names = Array.from({ length: 52_000 }, (_, n) => `minion-number-${n}`)
    const text = names.map((name) => `${name},`).join('')
    await tell(`set minions 16 0 ${text.length}\r\n${text}\r\n`)
    const more = Array.from({ length: 200 }, (_, n) => `${'x'.repeat(100)}${n}`)
    await returner.saveBatch?.(more.map((id) => ({ ...ret, id })))
    expect(await returner.getMinions?.()).toEqual([...names.slice(26_000), ...more])
  })

  outageContract({
    name: 'memcache',
    server: () => server,
    returner: () => returner,
    says: 'memcached',
    nowhere: { 'memcache.host': '127.0.0.1', 'memcache.port': 1 },
  })
})

tlsContract({
  name: 'memcache',
  program: 'memcached',
  start: ({ cert, key, clients }) =>
    startMemcached(
      ...['--enable-ssl', '-o', `ssl_chain_cert=${cert},ssl_key=${key}`],
      ...(clients ? ['-o', `ssl_verify_mode=2,ssl_ca_cert=${clients}`] : []),
    ),
  config: (port, options) => ({ memcache: { host: '127.0.0.1', port, ...options } }),
})
