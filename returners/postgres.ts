/** Keeps jobs, returns and events in PostgreSQL, in Salt's tables with JSON columns of type text. */
import { p, returner } from 'salt-ts'
import { postgresDatabase, postgresDialect, postgresOptions } from './_postgres.ts'
import { postgresShared } from './_postgres-shared.ts'
import { sqlReturner } from './_sql.ts'

const dialect = postgresDialect(
  'text',
  `create table salt_returns (
    fun varchar(50) not null, jid varchar(255) not null, return text not null, full_ret text,
    id varchar(255) not null, success varchar(10) not null, alter_time timestamp with time zone default now())`,
)

export default returner({
  configKey: 'returner.postgres',
  options: { ...postgresOptions, passwd: p.secret(p.default(p.string(), 'salt')) },
  create: async (facts) => {
    const database = await postgresDatabase('postgres', facts.options, facts.options.passwd)
    return { ...sqlReturner(database, dialect, facts), ...postgresShared(database, dialect) }
  },
})
