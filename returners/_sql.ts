/** The common part of returners for relational databases: Salt's tables jids, salt_returns and salt_events. */
import type { Returner, ReturnerFacts } from 'salt-ts'
import type { SqlDatabase, SqlDialect } from './_sql-database.ts'
import { sqlReading } from './_sql-reading.ts'
import { migrate, sqlCleaning } from './_sql-upkeep.ts'
import { sqlWriting } from './_sql-writing.ts'

/** Make a returner that keeps Salt's tables in `database`. */
export const sqlReturner = (
  database: SqlDatabase,
  dialect: SqlDialect,
  { id, opts }: Pick<ReturnerFacts<unknown>, 'id' | 'opts'>,
): Returner => ({
  ...sqlWriting(database, dialect, id),
  ...sqlReading(database, dialect),
  ...sqlCleaning(database, dialect, opts.archive_jobs === true),
  migrate: () => migrate(database, dialect),
  close: () => database.close(),
})
