import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Returner, UnsavableError } from '../../../core/author/returner.ts'
import { mysqlDatabase } from '../../harness/mysql-database.ts'
import { mysqlHere, needs } from '../../harness/needs.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import { SALT_TABLES } from '../../harness/salt-tables.ts'

describe("Salt's tables in MySQL", needs(await mysqlHere()), () => {
  let store: Awaited<ReturnType<typeof mysqlDatabase>>
  let returner: Returner
  const query = (sql: string) => store.query(sql)

  beforeAll(async () => {
    store = await mysqlDatabase()
    returner = await returnerWith('mysql', { ...store.config, id: 'master1', archive_jobs: true })
    for (const sql of SALT_TABLES.mysql) await query(sql)
  })
  afterAll(async () => {
    await returner.close?.()
    await store.drop()
  })

  test('says what to do when a table is missing', async () => {
    await expect(returner.saveEvents?.([{ tag: 'salt/auth', data: {} }], '1')).rejects.toThrow(
      "salt_event_batches' doesn't exist. Tables are created by: salt-run returner.migrate mysql",
    )
  })

  test('reads jobs and returns that Python Salt wrote, the last of two, before and after it is migrated', async () => {
    const jid = '20250101000000000001'
    const full = `{"cmd": "_return", "id": "py1", "success": true, "return": {"a": 1.0}, "retcode": 0,
    "jid": "${jid}", "fun": "test.arg", "fun_args": ["x"]}`
    await query(`insert into jids values ('${jid}',
    '{"fun": "test.arg", "arg": ["x"], "tgt": "*", "tgt_type": "glob", "user": "root"}')`)
    await query(`insert into salt_returns (fun, jid, \`return\`, id, success, full_ret, alter_time) values
    ('test.arg', '${jid}', 'false', 'py1', true, '{"return": false}', now()),
    ('test.arg', '${jid}', '{"a": 1.0}', 'py1', true, '${full}', now() + interval 2 second)`)
    const check = async () => {
      expect(await returner.getJid?.(jid)).toEqual([
        expect.objectContaining({ id: 'py1', fun: 'test.arg', fun_args: ['x'], success: true, retcode: 0 }),
      ])
      expect(await returner.getFun?.('test.arg')).toEqual([expect.objectContaining({ id: 'py1' })])
      expect(await returner.getLoad?.(jid)).toMatchObject({
        load: { fun: 'test.arg', tgt: '*' },
        minions: [],
      })
    }
    await check()
    expect(await returner.migrate?.()).toContain('Created salt_event_batches.')
    await check()
    expect(await returner.migrate?.()).toEqual([])
  })

  test('keeps characters the tables cannot hold', async () => {
    const ret = aReturn({ jid: '20261122050000000012', return: ['🦊', 'ключ'] })
    await returner.save(ret)
    expect(await returner.getJid?.(ret.jid)).toEqual([ret])
  })

  test('distinguishes minions whose ids differ only in case', async () => {
    const jid = '20261122050000000011'
    const rets = ['web', 'WEB'].map((id) => aReturn({ jid, id, fun: 'test.case' }))
    for (const ret of rets) await returner.save(ret)
    expect(await returner.getJid?.(jid)).toHaveLength(2)
    expect(await returner.getFun?.('test.case')).toHaveLength(2)
    expect(await returner.getMinions?.()).toEqual(expect.arrayContaining(['web', 'WEB']))
  })

  test('keeps one row per return although several connections save it at the same time', async () => {
    const jid = '20261122050000000020'
    const rets = Array.from({ length: 50 }, (_, n) => aReturn({ jid, id: `m${n}` }))
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => returner.saveBatch?.(n % 2 === 0 ? rets : rets.toReversed())),
    )
    expect(await query(`select count(*) as found from salt_returns where jid = '${jid}'`)).toEqual([
      { found: 50 },
    ])
  })

  test('refuses permanently a return that no table can hold', async () => {
    await expect(returner.save(aReturn({ id: 'x'.repeat(256) }))).rejects.toThrow(UnsavableError)
    await expect(returner.save(aReturn({ id: '🦊' }))).rejects.toThrow(UnsavableError)
  })

  test('puts old jobs aside if jobs are archived', async () => {
    const jid = '20261122050000000040'
    await returner.saveLoad?.({ jid, load: { fun: 'test.ping' }, minions: [] })
    await returner.save(aReturn({ jid }))
    await returner.saveEvents?.([{ tag: 'salt/auth', data: {} }], 'one')
    await query('update salt_returns set alter_time = now() - interval 2 day')
    await returner.cleanOldJobs?.(new Date(Date.now() - 86_400_000))
    expect(await returner.getJid?.(jid)).toEqual([])
    expect(await query(`select id from salt_returns_archive where jid = '${jid}'`)).toEqual([{ id: 'web1' }])
    expect(
      await query(`select json_value(\`load\`, '$.fun') as fun from jids_archive where jid = '${jid}'`),
    ).toEqual([{ fun: 'test.ping' }])
    expect(await query('select count(*) as found from salt_events')).toEqual([{ found: 1 }])
  })
})
