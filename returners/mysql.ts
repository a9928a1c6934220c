/** Keeps jobs, returns and events in MySQL or MariaDB, in Salt's tables. */
import { recordJson, returner } from 'salt-ts'
import { mysqlDatabase, mysqlOptions } from './_mysql.ts'
import { sqlReturner } from './_sql.ts'
import type { SqlDialect } from './_sql-database.ts'
import { funText, RETURN_COLUMNS, returnOf } from './_sql-rows.ts'

/** Encode as JSON. Salt's tables have the character set utf8 of up to three bytes, so characters with more are escaped. */
const json = (value: unknown): string =>
  recordJson(value).replace(/[\u{10000}-\u{10FFFF}]/gu, (character) =>
    [0, 1].map((n) => `\\u${character.charCodeAt(n).toString(16)}`).join(''),
  )

/** Locks belong to the server, not to a database, and their names have at most 64 characters. */
const LOCK = "get_lock(left(concat('salt_returns ', ?, ' ', database()), 64), 60)"

const dialect: SqlDialect = {
  columns: {
    fun: ({ fun }) => funText(fun),
    jid: ({ jid }) => jid,
    return: (ret) => json(ret.return),
    id: ({ id }) => id,
    success: ({ success }) => (success ? '1' : '0'),
    full_ret: json,
  },
  time: 'alter_time',
  read: RETURN_COLUMNS,
  returnOf,
  json,
  exactId: 'convert(id using utf8mb4) collate utf8mb4_bin',
  unlessThere: 'on duplicate key update jid = jid',
  forUpdate: 'for update',
  timeText: (time) => time.toISOString().slice(0, 19).replace('T', ' '),
  async lock(query, numbers) {
    const [held = {}] = await query(`select ${numbers.map((n) => `${LOCK} as "${n}"`).join(', ')}`, numbers)
    if (Object.values(held).some((one) => Number(one) !== 1))
      throw new Error('Another connection is writing the same returns and does not finish')
  },
  existing: `select table_name as name from information_schema.tables where table_schema = database()
    union select index_name from information_schema.statistics where table_schema = database()`,
  schema: {
    jids: `create table jids (
      jid varchar(255) not null, "load" mediumtext not null, unique key jid (jid)
    ) engine = InnoDB default charset = utf8mb4`,
    salt_returns: `create table salt_returns (
      fun varchar(50) not null, jid varchar(255) not null, "return" mediumtext not null, id varchar(255) not null,
      success varchar(10) not null, full_ret mediumtext not null, alter_time timestamp default current_timestamp,
      key id (id), key jid (jid), key fun (fun)
    ) engine = InnoDB default charset = utf8mb4`,
    idx_salt_returns_jid_id: 'create index idx_salt_returns_jid_id on salt_returns (jid, id)',
    idx_salt_returns_updated: 'create index idx_salt_returns_updated on salt_returns (alter_time)',
    salt_events: `create table salt_events (
      id bigint not null auto_increment, tag varchar(255) not null, data mediumtext not null,
      alter_time timestamp default current_timestamp, master_id varchar(255) not null,
      primary key (id), key tag (tag)
    ) engine = InnoDB default charset = utf8mb4`,
    idx_salt_events_time: 'create index idx_salt_events_time on salt_events (alter_time)',
    salt_event_batches: `create table salt_event_batches (
      batch varchar(255) not null, alter_time timestamp default current_timestamp, primary key (batch)
    ) engine = InnoDB default charset = utf8mb4 collate = utf8mb4_bin`,
  },
  changes: [],
  createLike: (name, table) => `create table if not exists ${name} like ${table}`,
}

export default returner({
  options: mysqlOptions,
  create: async (facts) => sqlReturner(await mysqlDatabase(facts.options), dialect, facts),
})
