/**
 * Keeps jobs and returns in Salt's tables in a SQLite file, and events in an additional table. Salt's table has little more of a
 * return than its value: an additional column has the rest.
 */
import { p, type ReturnRecord, recordJson, returner } from 'salt-ts'
import { sqlReturner } from './_sql.ts'
import type { SqlDialect } from './_sql-database.ts'
import { jsonValue, mapOf, succeeded } from './_sql-rows.ts'
import { migrate } from './_sql-upkeep.ts'
import { sqliteDatabase } from './_sqlite.ts'

const NOW = `(strftime('%Y-%m-%d %H:%M:%f', 'now', 'localtime'))`

const dialect: SqlDialect = {
  columns: {
    fun: ({ fun }) => String(fun),
    jid: ({ jid }) => jid,
    id: ({ id }) => id,
    fun_args: ({ fun_args }) => (fun_args.length > 0 ? recordJson(fun_args) : null),
    date: () => localTime(new Date()),
    full_ret: (ret) => recordJson(ret.return),
    success: ({ success }) => (success ? '1' : '0'),
    record: ({ return: _, ...rest }: ReturnRecord) => recordJson(rest),
  },
  time: 'date',
  read: ['jid', 'id', 'fun', 'fun_args', 'full_ret', 'success', 'record'],
  returnOf: (row) => ({
    fun: row.fun ?? '',
    // Python Salt writes them in Python's list notation.
    fun_args: row.fun_args == null ? [] : [jsonValue(row.fun_args)].flat(),
    ...succeeded(row),
    ...mapOf(row.record),
    return: jsonValue(row.full_ret),
    jid: String(row.jid),
    id: String(row.id),
  }),
  json: recordJson,
  exactId: 'id',
  unlessThere: 'on conflict do nothing',
  forUpdate: '',
  timeText: localTime,
  existing: 'select name from sqlite_master',
  schema: {
    jids: 'create table jids (jid text primary key, load text not null)',
    salt_returns: `create table salt_returns (
      fun text, jid text, id text, fun_args text, date text not null, full_ret text not null,
      success text not null, record text)`,
    idx_salt_returns_jid_id: 'create index idx_salt_returns_jid_id on salt_returns (jid, id)',
    idx_salt_returns_fun: 'create index idx_salt_returns_fun on salt_returns (fun)',
    idx_salt_returns_date: 'create index idx_salt_returns_date on salt_returns (date)',
    salt_events: `create table salt_events (
      id integer primary key, tag text not null, data text not null, alter_time text default ${NOW},
      master_id text not null)`,
    idx_salt_events_tag: 'create index idx_salt_events_tag on salt_events (tag)',
    idx_salt_events_time: 'create index idx_salt_events_time on salt_events (alter_time)',
    salt_event_batches: `create table salt_event_batches (batch text primary key, alter_time text default ${NOW})`,
  },
  changes: [
    {
      due: `select 1 where not exists (select 1 from pragma_table_info('salt_returns') where name = 'record')`,
      run: 'alter table salt_returns add column record text',
      done: 'Added salt_returns.record.',
    },
  ],
  createLike: (name, table) => `create table if not exists ${name} as select * from ${table} where 0`,
}

/** Format a time as Python does: `2026-11-22 05:00:00.123000`. */
function localTime(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return `${local.toISOString().slice(0, 23).replace('T', ' ')}000`
}

export default returner({
  options: {
    database: p.string({ minLength: 1 }),
    /** Seconds to wait while others write to the file. */
    timeout: p.default(p.number({ minimum: 0 }), 5),
  },
  create: async (facts) => {
    const { database, timeout } = facts.options
    const prepare = (opened: Parameters<typeof migrate>[0]) => migrate(opened, dialect)
    return sqlReturner(await sqliteDatabase(database, timeout, prepare), dialect, facts)
  },
})
