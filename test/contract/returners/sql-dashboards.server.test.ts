/** What people ask Salt's tables for, in tables Salt's documentation has and in those a migration makes. */
import { join } from 'node:path'
import Sqlite from 'libsql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { mysqlDatabase } from '../../harness/mysql-database.ts'
import { mysqlHere, needs, postgresHere } from '../../harness/needs.ts'
import { postgresDatabase } from '../../harness/postgres-database.ts'
import { aReturn, returnerWith } from '../../harness/returner.ts'
import { SALT_TABLES } from '../../harness/salt-tables.ts'

interface Store {
  readonly config: Readonly<Record<string, unknown>>
  query(sql: string): Promise<readonly unknown[]>
  drop(): Promise<unknown>
}

const [PING, APPLY, AGAIN] = ['20261122050000000001', '20261122050000000002', '20261122050000000003']
const MOTD = 'file_|-motd_|-/etc/motd_|-managed'
const TAG = `salt/job/${APPLY}/ret/web1`

async function write(returner: Returner): Promise<void> {
  const state = { jid: APPLY, fun: 'state.apply', fun_args: ['web'] }
  const jobs = {
    [PING]: ['test.ping', 'root'],
    [APPLY]: ['state.apply', 'ada'],
    [AGAIN]: ['test.ping', 'root'],
  }
  for (const [jid, [fun, user]] of Object.entries(jobs))
    await returner.saveLoad?.({ jid, load: { jid, fun, user, tgt: '*' }, minions: ['web1', 'web2'] })
  await returner.saveBatch?.([
    aReturn({ jid: PING, id: 'web1' }),
    aReturn({ jid: PING, id: 'web2' }),
    aReturn({ ...state, id: 'web1', return: { [MOTD]: { result: true, changes: { diff: '+x' } } } }),
    aReturn({ ...state, id: 'web2', return: ['Rendering failed'], retcode: 2, success: false }),
    aReturn({ jid: AGAIN, id: 'web2' }),
  ])
  await returner.saveEvents?.(
    [
      { tag: TAG, data: { fun: 'state.apply', id: 'web1', retcode: 0 } },
      { tag: 'salt/auth', data: { id: 'web1' } },
    ],
    'one',
  )
}

/** What is asked, and what the answer is. */
const ANSWERS = {
  'the last job of each minion': [
    { id: 'web1', jid: APPLY },
    { id: 'web2', jid: AGAIN },
  ],
  'what has failed of late': [{ id: 'web2', fun: 'state.apply' }],
  'nothing that is older': [],
  'how often each function ran, and well, on each day': [
    { fun: 'state.apply', runs: 2, good: 1 },
    { fun: 'test.ping', runs: 3, good: 3 },
  ],
  'who ran what where': [
    { id: 'web1', who: 'ada', fun: 'state.apply' },
    { id: 'web2', who: 'ada', fun: 'state.apply' },
  ],
  'states that changed something': [{ id: 'web1', diff: '+x' }],
  'returns with a text in them': [{ id: 'web1' }],
  'events by their tag': [{ tag: TAG, minion: 'web1', retcode: '0', master_id: 'master1' }],
} as const

type Questions = Readonly<Record<keyof typeof ANSWERS, string>>

/** `json`: a column with JSON as the operators of PostgreSQL take it. */
const inPostgres = (json: (column: string) => string, text: (column: string) => string): Questions => ({
  'the last job of each minion': 'select distinct on (id) id, jid from salt_returns order by id, jid desc',
  'what has failed of late': `select id, fun from salt_returns
    where success = 'false' and ${json('full_ret')}->>'retcode' <> '0' and alter_time > now() - interval '1 hour'`,
  'nothing that is older': `select id from salt_returns
    where alter_time between now() - interval '2 days' and now() - interval '1 hour'`,
  'how often each function ran, and well, on each day': `select fun, count(*)::int as runs,
    count(*) filter (where success::boolean)::int as good from salt_returns
    group by fun, date_trunc('day', alter_time) order by fun`,
  'who ran what where': `select r.id, ${json('j.load')}->>'user' as who, r.fun from salt_returns r
    join jids j using (jid) where r.fun like 'state.%' order by r.id`,
  'states that changed something': `select id, state.value->'changes'->>'diff' as diff
    from salt_returns, jsonb_each(${json('return')}) state
    where fun = 'state.apply' and success = 'true' and state.value->>'result' = 'true'`,
  'returns with a text in them': `select id from salt_returns
    where ${text('full_ret')} like '%"fun": "state.apply"%' and ${text('return')} like '%"result": true%'`,
  'events by their tag': `select tag, ${json('data')}->>'id' as minion, ${json('data')}->>'retcode' as retcode, master_id
    from salt_events where tag like 'salt/job/%/ret/%'`,
})

/** `extract`: of a column the text at a path; `date`: when a row was written. */
const inOthers = (
  { load, result, retcode }: { readonly load: string; readonly result: string; readonly retcode: string },
  extract: (column: string, path: string) => string,
  { date, hourAgo, whole }: { readonly date: string; readonly hourAgo: string; readonly whole: string },
): Questions => ({
  'the last job of each minion': 'select id, max(jid) as jid from salt_returns group by id order by id',
  'what has failed of late': `select id, fun from salt_returns
    where success = '0' and ${retcode} and ${date} > ${hourAgo} order by ${date} desc limit 10`,
  'nothing that is older': `select id from salt_returns where ${date} < ${hourAgo}`,
  'how often each function ran, and well, on each day': `select fun, count(*) as runs, ${whole} as good
    from salt_returns group by fun, date(${date}) order by fun`,
  'who ran what where': `select r.id, ${extract(`j.${load}`, '$.user')} as who, r.fun from salt_returns r
    join jids j on j.jid = r.jid where r.fun like 'state.%' order by r.id`,
  'states that changed something': `select id, ${extract(result, `$."${MOTD}".changes.diff`)} as diff
    from salt_returns where fun = 'state.apply' and success = '1'`,
  'returns with a text in them': `select id from salt_returns where ${result} like '%"result": true%'`,
  'events by their tag': `select tag, ${extract('data', '$.id')} as minion,
    cast(${extract('data', '$.retcode')} as char) as retcode, master_id
    from salt_events where tag like 'salt/job/%/ret/%'`,
})

async function sqlite(): Promise<Store> {
  const folder = await temporaryFolder('salt-ts-sqlite-')
  const database = join(folder, 'salt.db')
  const client = new Sqlite(database)
  const query = async (sql: string) => {
    const statement = client.prepare(sql)
    return statement.reader ? (statement.all() as unknown[]) : [statement.run()]
  }
  const drop = () => {
    client.close()
    return removeFolder(folder)
  }
  return { config: { 'sqlite3.database': database }, query, drop }
}

async function postgres(name: string): Promise<Store> {
  const { client, ...store } = await postgresDatabase(`returner.${name}`)
  await client.query('set enable_seqscan = off') // For a few rows it would use no index.
  return { ...store, query: async (sql) => (await client.query(sql)).rows }
}

const NEWEST = 'select jid, load from jids order by jid desc limit 10'

const inPostgresql = await postgresHere()

const DATABASES = {
  postgres: {
    needs: [inPostgresql],
    open: () => postgres('postgres'),
    questions: inPostgres(
      (column) => `${column}::jsonb`,
      (column) => column,
    ),
    plan: { ask: `explain ${NEWEST}`, says: 'Index Scan Backward' },
  },
  pgjsonb: {
    needs: [inPostgresql],
    open: () => postgres('pgjsonb'),
    questions: inPostgres(
      (column) => column,
      (column) => `${column}::text`,
    ),
    plan: { ask: `explain ${NEWEST}`, says: 'Index Scan Backward' },
  },
  mysql: {
    needs: [await mysqlHere()],
    open: (): Promise<Store> => mysqlDatabase(),
    questions: inOthers(
      { load: '`load`', result: '`return`', retcode: "json_extract(full_ret, '$.retcode') <> 0" },
      (column, path) => `json_unquote(json_extract(${column}, '${path}'))`,
      { date: 'alter_time', hourAgo: 'now() - interval 1 hour', whole: 'cast(sum(success) as int)' },
    ),
    plan: { ask: `explain ${NEWEST.replace('load', '`load`')}`, says: /"key":"(?:jid|PRIMARY)"/ },
  },
  sqlite3: {
    needs: [],
    open: sqlite,
    questions: inOthers(
      { load: 'load', result: 'full_ret', retcode: 'json_valid(full_ret)' },
      (column, path) => `json_extract(${column}, '${path}')`,
      { date: 'date', hourAgo: "datetime('now', 'localtime', '-1 hour')", whole: 'sum(success = 1)' },
    ),
    plan: { ask: `explain query plan ${NEWEST}`, says: 'USING INDEX' },
  },
} as const

type Name = keyof typeof DATABASES

const cases = (Object.keys(DATABASES) as Name[]).flatMap((name) =>
  ["that Salt's documentation has", 'that a migration makes'].map((tables) => [name, tables] as const),
)

for (const [name, tables] of cases)
  describe(`the tables of ${name} ${tables}`, needs(...DATABASES[name].needs), () => {
    const { open, questions, plan } = DATABASES[name]
    let store: Store
    let returner: Returner
    beforeAll(async () => {
      store = await open()
      if (tables !== 'that a migration makes') for (const sql of SALT_TABLES[name]) await store.query(sql)
      returner = await returnerWith(name, { ...store.config, id: 'master1' })
      await returner.migrate?.()
      await write(returner)
    })
    afterAll(async () => {
      await returner?.close?.()
      await store?.drop()
    })

    test.each(Object.keys(ANSWERS) as (keyof typeof ANSWERS)[])('answer: %s', async (question) => {
      expect(await store.query(questions[question])).toEqual(ANSWERS[question])
    })

    test('give the newest jobs by an index, however many jobs there are', async () => {
      const answers = await store.query(plan.ask)
      expect(JSON.stringify(answers)).toMatch(plan.says)
      const jobs = await returner.getJidsFilter?.(2, true)
      expect(jobs?.map(({ jid }) => jid)).toEqual([AGAIN, APPLY])
    })
  })

describe('the tables of pgjsonb', needs(inPostgresql), () => {
  test('are searched by the content of their JSON', async () => {
    const store = await postgres('pgjsonb')
    const returner = await returnerWith('pgjsonb', { ...store.config, id: 'master1' })
    await returner.migrate?.()
    await write(returner)
    expect(await store.query(`select id from salt_returns where full_ret @> '{"retcode": 2}'`)).toEqual([
      { id: 'web2' },
    ])
    expect(
      await store.query(`select return #>> '{${MOTD},changes,diff}' as diff from salt_returns
        where return ? '${MOTD}' and full_ret->'fun_args' ? 'web'`),
    ).toEqual([{ diff: '+x' }])
    await returner.close?.()
    await store.drop()
  })
})
