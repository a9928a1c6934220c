import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Sqlite, { type Database } from 'libsql'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import { SALT_TABLES } from '../../harness/salt-tables.ts'
import { SLOW } from '../../harness/slow.ts'

let folder: string
let file: string
let returner: Returner
let other: Database

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-sqlite-')
  file = join(folder, 'salt.db')
  returner = await returnerWith('sqlite3', {
    id: 'master1',
    archive_jobs: true,
    sqlite3: { database: file, timeout: 0.3 },
  })
  other = new Sqlite(file)
})
afterEach(async () => {
  other.close()
  await returner.close?.()
  await removeFolder(folder)
})

const query = (sql: string) => other.prepare(sql).all()

test('the returner sqlite3 reads what Python Salt wrote, the last of two returns, and adds its column to the table', async () => {
  for (const sql of SALT_TABLES.sqlite3) other.exec(sql)
  const jid = '20250101000000000001'
  other.exec(`insert into jids values ('${jid}', '{"fun": "test.arg", "tgt": "*", "user": "root"}');
    insert into salt_returns (fun, jid, id, fun_args, date, full_ret, success) values
    ('test.arg', '${jid}', 'py1', '[1, 2]', '2025-01-01 00:00:01.000001', 'false', 1),
    ('test.arg', '${jid}', 'py1', '[1, 2]', '2025-01-01 00:00:02.000001', '{"a": 1}', 1),
    ('test.arg', '${jid}', 'py2', NULL, '2025-01-01 00:00:02.000001', '"no"', 0)`)
  expect(await returner.getJid?.(jid)).toEqual([
    aReturn({ jid, id: 'py1', fun: 'test.arg', fun_args: [1, 2], return: { a: 1 } }),
    aReturn({ jid, id: 'py2', fun: 'test.arg', return: 'no', success: false, retcode: 1 }),
  ])
  expect(await returner.getLoad?.(jid)).toEqual({
    jid,
    load: { fun: 'test.arg', tgt: '*', user: 'root' },
    minions: [],
  })
  expect(await returner.migrate?.()).toEqual([])
  expect(query("select name from pragma_table_info('salt_returns')").slice(6)).toEqual([
    { name: 'success' },
    { name: 'record' },
  ])
})

test("the returner sqlite3 answers the usual queries on Salt's tables", async () => {
  for (const sql of SALT_TABLES.sqlite3) other.exec(sql)
  const jid = '20261122050000000010'
  await returner.saveLoad?.({ jid, load: { fun: 'state.apply', user: 'ada' }, minions: ['web1', 'web2'] })
  await returner.saveBatch?.([
    aReturn({ jid, id: 'web1', fun: 'state.apply', fun_args: ['web'], return: { a: { result: true } } }),
    aReturn({ jid, id: 'web2', fun: 'state.apply', return: ['broken'], retcode: 2, success: false }),
  ])
  const tag = `salt/job/${jid}/ret/web1`
  await returner.saveEvents?.([{ tag, data: { id: 'web1' } }], tag)
  expect(
    query(`select id, full_ret from salt_returns
      where success = '0' and date > datetime('now', 'localtime', '-1 hour') order by date desc`),
  ).toEqual([{ id: 'web2', full_ret: '["broken"]' }])
  expect(
    query(`select r.id, r.fun_args, json_extract(j.load, '$.user') as who from salt_returns r
      join jids j on j.jid = r.jid where r.fun like 'state.%' and r.full_ret like '%"result": true%'`),
  ).toEqual([{ id: 'web1', fun_args: '["web"]', who: 'ada' }])
  expect(query('select tag, data, master_id from salt_events')).toEqual([
    { tag, data: '{"id": "web1"}', master_id: 'master1' },
  ])
})

test('the returner sqlite3 makes a file that only its user can read', async () => {
  await rm(file)
  await returner.save(aReturn())
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test(
  'the returner sqlite3 waits for other writers of the file, gives up, and works again when they are done',
  SLOW,
  async () => {
    await returner.save(aReturn())
    other.exec('begin immediate')
    await expect(returner.save(aReturn({ return: 'late' }))).rejects.toThrow(
      `The SQLite database ${file}: database is locked`,
    )
    const waiting = returner.save(aReturn({ return: 'in time' }))
    other.exec('commit')
    await waiting
    expect(await returner.getJid?.(aReturn().jid)).toEqual([aReturn({ return: 'in time' })])
  },
)

test('the returner sqlite3 keeps one row per return although several connections save it at the same time', async () => {
  const second = await returnerWith('sqlite3', { sqlite3: { database: file } })
  const rets = Array.from({ length: 50 }, (_, n) => aReturn({ id: `m${n}` }))
  await returner.migrate?.()
  await Promise.all([returner, second, second, returner].map((each) => each.saveBatch?.(rets)))
  await second.close?.()
  expect(query('select count(*) as found from salt_returns')).toEqual([{ found: 50 }])
})

test('the returner sqlite3 names a file that is no database, or cannot be created', async () => {
  await writeFile(
    file,
    'This is a text, and was one before SQLite was asked to open it, for more than a page.',
  )
  await expect(returner.save(aReturn())).rejects.toThrow(
    `The SQLite database ${file}: file is not a database`,
  )
  const nowhere = await returnerWith('sqlite3', { 'sqlite3.database': '/does/not/exist.db' })
  await expect(nowhere.save(aReturn())).rejects.toThrow('ENOENT')
  await expect(returnerWith('sqlite3', {})).rejects.toThrow('needs the option sqlite3.database')
})

test('the returner sqlite3 archives old jobs if this is configured', async () => {
  const { jid } = aReturn()
  await returner.saveLoad?.({ jid, load: { fun: 'test.ping' }, minions: [] })
  await returner.save(aReturn())
  other.exec("update salt_returns set date = '2026-01-01 00:00:00.000000'")
  await returner.cleanOldJobs?.(new Date(Date.now() - 86_400_000))
  expect(await returner.getJid?.(jid)).toEqual([])
  expect(query('select r.id, load from salt_returns_archive r join jids_archive j on j.jid = r.jid')).toEqual(
    [{ id: 'web1', load: '{"fun": "test.ping", "Minions": []}' }],
  )
})
