import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReturnRecord } from '../../../core/author/returner.ts'
import { elasticsearchDouble } from '../../harness/elasticsearch.ts'
import { httpServer } from '../../harness/http-server.ts'
import { freePort } from '../../harness/ports.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import { SLOW } from '../../harness/slow.ts'
import { returnerContract } from '../returner.ts'

type Double = Awaited<ReturnType<typeof elasticsearchDouble>>
const configOf = ({ port }: Double, options: object = {}) => ({
  elasticsearch: { hosts: [`127.0.0.1:${port}`], user: 'salt', ...options },
  'elasticsearch.password': 'right',
})

await returnerContract({
  name: 'elasticsearch',
  wrongCredentials: (config) => ({ ...config, 'elasticsearch.password': 'wrong' }),
  async prepare() {
    const server = await elasticsearchDouble()
    const those = (index: string, wanted: object) =>
      [...(server.at(index)?.documents.values() ?? [])].filter((document) =>
        Object.entries(wanted).every(([name, value]) => document[name] === value),
      )
    return {
      config: configOf(server),
      rows: async (jid, minion) => those('salt-test_echo', { jid, minion }),
      events: async (tag) => those('salt-master-event-cache', { tag }),
      drop: server.close,
    }
  },
})

describe('elasticsearch, with a local double of the server', () => {
  let server: Double
  beforeAll(async () => {
    server = await elasticsearchDouble()
  })
  afterAll(() => server.close())

  const jid = '20300102000000000000'
  const ret = aReturn({ jid })
  const saved = async (one: ReturnRecord, options: object = {}) => {
    const elasticsearch = await returnerWith('elasticsearch', configOf(server, options))
    await elasticsearch.save(one)
    const found = (await elasticsearch.getJid?.(one.jid)) ?? []
    await elasticsearch.close?.()
    return found
  }
  const documents = (index: string) => [...(server.at(index)?.documents.values() ?? [])]

  test("has Salt's documents in Salt's indexes", async () => {
    await saved({ ...ret, return: { 'a.b': 1, c: [{ 'd.e': 2 }] } }, { number_of_shards: 5 })
    expect(server.aliases.get('salt-test_ping')).toBe('salt-test_ping-v1')
    expect(server.at('salt-test_ping')?.settings).toEqual({ number_of_shards: 5, number_of_replicas: 0 })
    expect(documents('salt-test_ping')).toEqual([
      {
        '@timestamp': expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        success: true,
        retcode: 0,
        minion: 'web1',
        fun: 'test.ping',
        jid,
        counts: {},
        data: { _orig_key: 'a.b', a_b: 1, c: [{ _orig_key: 'd.e', d_e: 2 }] },
        full_ret: expect.any(String),
      },
    ])
  })

  test('saves a return whose type the index refuses, without indexing its data', async () => {
    const mixed = { ...ret, fun: 'test.mixed' }
    await saved({ ...mixed, return: 'text' })
    expect(await saved({ ...mixed, id: 'web2', return: { a: 1 } })).toContainEqual({
      ...mixed,
      id: 'web2',
      return: { a: 1 },
    })
    expect(documents('salt-test_mixed')[1]).not.toHaveProperty('data')
  })

  test('counts and orders states if the options say so', async () => {
    const states = {
      'pkg_|-vim_|-vim_|-installed': { __run_num__: 1, result: false },
      'file_|-motd_|-/etc/motd_|-managed': { __run_num__: 0, result: null },
    }
    const options = {
      states_count: true,
      states_order_output: true,
      states_single_index: true,
      index_date: true,
    }
    const highstate = { ...ret, fun: 'state.highstate', return: states }
    expect(await saved(highstate, options)).toContainEqual(highstate)
    expect(documents('salt-state_apply-2030.01.02-ordered')).toMatchObject([
      {
        counts: { succeeded: 1, failed: 1 },
        data: {
          '0_|-file_|-motd_|-/etc/motd_|-managed': { _func: 'file.managed' },
          '1_|-pkg_|-vim_|-vim_|-installed': { _func: 'pkg.installed' },
        },
      },
    ])
  })

  test('reads documents of Python Salt', async () => {
    const old = '20200101000000000000'
    await saved({ ...ret, fun: 'test.old' })
    const document = {
      success: false,
      retcode: 1,
      minion: 'web1',
      fun: 'test.old',
      jid: old,
      counts: {},
      data: 'x',
    }
    server.at('salt-test_old')?.documents.set('automatic', document)
    const elasticsearch = await returnerWith('elasticsearch', configOf(server))
    expect(await elasticsearch.getJid?.(old)).toEqual([
      { jid: old, id: 'web1', fun: 'test.old', fun_args: [], return: 'x', retcode: 1, success: false },
    ])
    await elasticsearch.close?.()
  })

  test('returns a job of 1,200 returns, page by page', SLOW, async () => {
    const elasticsearch = await returnerWith('elasticsearch', configOf(server))
    const rets = Array.from({ length: 1200 }, (_, n) => ({
      ...ret,
      jid: '20300103000000000000',
      id: `m${n}`,
    }))
    await elasticsearch.saveBatch?.(rets)
    expect(await elasticsearch.getJid?.('20300103000000000000')).toHaveLength(1200)
    await elasticsearch.close?.()
  })

  test('saves a return of whatever name of a function a minion gives', async () => {
    const fun = `x${'\u{10428}'.repeat(60)}`
    for (const odd of [fun, `x${fun}`]) expect(await saved({ ...ret, fun: odd })).not.toEqual([])
  })

  test('leaves out excluded functions', async () => {
    expect(
      await saved({ ...ret, fun: 'test.noise', jid: '1' }, { functions_blacklist: ['test.noise'] }),
    ).toEqual([])
  })

  test('uses another host when one is down, and reports it when all are', async () => {
    const gone = `127.0.0.1:${await freePort()}`
    const both = { hosts: [gone, `127.0.0.1:${server.port}`] }
    expect(await saved({ ...ret, jid: '20300104000000000000' }, both)).toHaveLength(1)
    await expect(saved(ret, { hosts: [gone] })).rejects.toThrow(`${gone}: connect ECONNREFUSED`)
  })

  test('gives up waiting for a server that hangs', SLOW, async () => {
    const hanging = await httpServer(() => undefined)
    const options = { hosts: [`127.0.0.1:${hanging.port}`], timeout: 0.2 }
    await expect(saved(ret, options)).rejects.toThrow('no answer within 0.2 seconds')
    await hanging.close()
  })
})
