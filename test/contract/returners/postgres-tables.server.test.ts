import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Returner, UnsavableError } from '../../../core/author/returner.ts'
import { needs, postgresHere } from '../../harness/needs.ts'
import { postgresDatabase } from '../../harness/postgres-database.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import { SALT_TABLES } from '../../harness/salt-tables.ts'

describe.each([
  { name: 'postgres', isNarrow: true },
  { name: 'pgjsonb', isNarrow: false },
] as const)("Salt's tables in PostgreSQL by $name", needs(await postgresHere()), ({ name, isNarrow }) => {
  let store: Awaited<ReturnType<typeof postgresDatabase>>
  let returner: Returner
  const query = async (sql: string) => (await store.client.query(sql)).rows

  beforeAll(async () => {
    store = await postgresDatabase(`returner.${name}`)
    returner = await returnerWith(name, { ...store.config, id: 'master1', archive_jobs: true })
    for (const sql of SALT_TABLES[name]) await query(sql)
  })
  afterAll(async () => {
    await returner.close?.()
    await store.drop()
  })

  test('says what to do when a table is missing', async () => {
    const event = { tag: 'salt/auth', data: {} }
    await expect(returner.saveEvents?.([event], '1')).rejects.toThrow(
      `relation "salt_event_batches" does not exist. Tables are created by: salt-run returner.migrate ${name}`,
    )
  })

  test('reads jobs and returns that Python Salt wrote, the last of two, before and after it is migrated', async () => {
    const full = `{"cmd": "_return", "id": "py1", "success": true, "return": {"a": 1.0}, "retcode": 0,
      "jid": "20250101000000000001", "fun": "test.arg", "fun_args": ["x"], "fun_kwargs": null}`
    await query(`insert into jids values ('20250101000000000001',
      '{"fun": "test.arg", "arg": ["x"], "tgt": "*", "tgt_type": "glob", "user": "root"}');
      insert into salt_returns (fun, jid, return, id, success, full_ret, alter_time) values
      ('test.arg', '20250101000000000001', 'false', 'py1', true, '{"return": false}', now()),
      ('test.arg', '20250101000000000001', '{"a": 1.0}', 'py1', true, '${full}', now() + interval '1 s')`)
    const check = async () => {
      expect(await returner.getJid?.('20250101000000000001')).toEqual([
        expect.objectContaining({ id: 'py1', fun: 'test.arg', fun_args: ['x'], success: true, retcode: 0 }),
      ])
      expect(await returner.getFun?.('test.arg')).toEqual([expect.objectContaining({ id: 'py1' })])
      expect(await returner.getLoad?.('20250101000000000001')).toMatchObject({
        load: { fun: 'test.arg', arg: ['x'], tgt: '*' },
        minions: [],
      })
    }
    await check()
    const done = await returner.migrate?.()
    expect(done).toContain('Created salt_event_batches.')
    expect(done?.includes('Widened jids.jid.')).toBe(isNarrow)
    await check()
    expect(await returner.migrate?.()).toEqual([])
  })

  test('keeps one row per return although several connections save it at the same time', async () => {
    const rets = Array.from({ length: 50 }, (_, n) => aReturn({ jid: '20261122050000000020', id: `m${n}` }))
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => returner.saveBatch?.(n % 2 === 0 ? rets : rets.toReversed())),
    )
    expect(await query("select count(*)::int from salt_returns where jid = '20261122050000000020'")).toEqual([
      { count: 50 },
    ])
  })

  test('cuts the names of functions where a column ends, and finds them whole', async () => {
    const fun = ['state.apply', ...Array(10).fill('test.version')]
    const ret = aReturn({ jid: '20261122050000000030', fun })
    await returner.save(ret)
    expect(await returner.getJid?.(ret.jid)).toEqual([ret])
    expect(await returner.getFun?.(fun.join(','))).toEqual([ret])
    expect(await returner.getFun?.('state.apply,test.version')).toEqual([])
  })

  test('refuses permanently a return that no table can hold', async () => {
    await expect(returner.save(aReturn({ id: 'x'.repeat(256) }))).rejects.toThrow(UnsavableError)
    await expect(returner.save(aReturn({ id: 'a\0b' }))).rejects.toThrow(UnsavableError)
  })

  test('puts old jobs aside if jobs are archived', async () => {
    const jid = '20261122050000000040'
    await returner.saveLoad?.({ jid, load: { fun: 'test.ping' }, minions: [] })
    await returner.save(aReturn({ jid }))
    await returner.saveEvents?.([{ tag: 'salt/auth', data: {} }], 'one')
    await query("update salt_returns set alter_time = now() - interval '2 days'")
    await returner.cleanOldJobs?.(new Date(Date.now() - 86_400_000))
    expect(await returner.getJid?.(jid)).toEqual([])
    expect(await query(`select id from salt_returns_archive where jid = '${jid}'`)).toEqual([{ id: 'web1' }])
    expect(await query(`select load::json->>'fun' as fun from jids_archive where jid = '${jid}'`)).toEqual([
      { fun: 'test.ping' },
    ])
    expect(await query('select count(*)::int from salt_events')).toEqual([{ count: 1 }])
  })
})
