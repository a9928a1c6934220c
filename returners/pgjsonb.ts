/** Keeps jobs, returns and events in PostgreSQL, in Salt's tables with JSON columns of type jsonb. */
import { p, returner } from 'salt-ts'
import { postgresDatabase, postgresDialect, postgresOptions } from './_postgres.ts'
import { postgresShared } from './_postgres-shared.ts'
import { sqlReturner } from './_sql.ts'

const gin = (name: string, table: string, column: string) =>
  `create index ${name} on ${table} using gin (${column}) with (fastupdate = on)`

const dialect = postgresDialect(
  'jsonb',
  `create table salt_returns (
    fun varchar(50) not null, jid varchar(255) not null, return jsonb not null, id varchar(255) not null,
    success varchar(10) not null, full_ret jsonb not null, alter_time timestamp with time zone default now())`,
  {
    idx_jids_jsonb: gin('idx_jids_jsonb', 'jids', 'load'),
    idx_salt_returns_return: gin('idx_salt_returns_return', 'salt_returns', 'return'),
    idx_salt_returns_full_ret: gin('idx_salt_returns_full_ret', 'salt_returns', 'full_ret'),
    idx_salt_events_data: gin('idx_salt_events_data', 'salt_events', 'data'),
  },
)

export default returner({
  configKey: 'returner.pgjsonb',
  options: { ...postgresOptions, pass: p.secret(p.default(p.string(), 'salt')) },
  create: async (facts) => {
    const database = await postgresDatabase('pgjsonb', facts.options, facts.options.pass)
    return { ...sqlReturner(database, dialect, facts), ...postgresShared(database, dialect) }
  },
})
