import type { Returner } from 'salt-ts'
import { MAINTENANCE_SECONDS, type SqlDatabase, type SqlDialect } from './_sql-database.ts'

const TABLES = ['jids', 'salt_returns', 'salt_events']
/** Lock number of migrations, above those of returns. */
const MIGRATION = 1000
const DAY = 86_400_000

type Cleaning = Required<Pick<Returner, 'cleanOldJobs' | 'remove'>>

/** With `archive`, old rows move to the tables jids_archive, salt_returns_archive and salt_events_archive. */
export const sqlCleaning = (
  { query, transaction }: SqlDatabase,
  { time, timeText, createLike }: SqlDialect,
  archive: boolean,
): Cleaning => ({
  async cleanOldJobs(before) {
    if (archive) for (const table of TABLES) await query(createLike(`${table}_archive`, table))
    const limit = timeText(before)
    /** Jobs without a newer return that have older ones, or are so old that none will arrive. */
    const oldJobs = `not exists (select 1 from salt_returns r where r.jid = jids.jid and r.${time} >= ?)
      and (jid < ? or exists (select 1 from salt_returns r where r.jid = jids.jid))`
    const oldJobsValues = [limit, jidText(new Date(before.getTime() - DAY))]
    await transaction(async (query) => {
      const take = async (table: string, where: string, values: readonly string[]) => {
        if (archive) await query(`insert into ${table}_archive select * from ${table} where ${where}`, values)
        await query(`delete from ${table} where ${where}`, values)
      }
      if (archive)
        await query(
          `delete from jids_archive where jid in (select jid from jids where ${oldJobs})`,
          oldJobsValues,
        )
      await take('jids', oldJobs, oldJobsValues)
      await take('salt_returns', `${time} < ?`, [limit])
      await take('salt_events', 'alter_time < ?', [limit])
      await query('delete from salt_event_batches where alter_time < ?', [limit])
    }, MAINTENANCE_SECONDS)
  },

  remove: (jid) =>
    transaction(async (query) => {
      await query('delete from salt_returns where jid = ?', [jid])
      await query('delete from jids where jid = ?', [jid])
    }),
})

/** Create missing tables and apply due changes; return sentences about what was done. */
export const migrate = (
  { transaction }: Pick<SqlDatabase, 'transaction'>,
  { lock, existing, schema, changes }: SqlDialect,
): Promise<string[]> =>
  transaction(async (query) => {
    await lock?.(query, [MIGRATION])
    const there = new Set((await query(existing)).map(({ name }) => name))
    const done: string[] = []
    for (const [name, create] of Object.entries(schema)) {
      if (there.has(name)) continue
      await query(create)
      done.push(`Created ${name}.`)
    }
    for (const change of changes) {
      if ((await query(change.due)).length === 0) continue
      await query(change.run)
      done.push(change.done)
    }
    return done
  }, MAINTENANCE_SECONDS)

/** Return the first job id of the second. */
const jidText = (time: Date): string => `${time.toISOString().replace(/\D/g, '').slice(0, 14)}000000`
