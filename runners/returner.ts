/** The stores outside that returns, jobs and events are written to. */
import { CommandExecutionError, fn, p } from 'salt-ts'

const name = p.described(p.string({ minLength: 1 }), 'Name of a returner')
const numbers = p.optional(
  p.described(p.array(p.integer({ minimum: 0 })), 'As status shows them; all if left out'),
)

/**
 * How it stands with each returner the master writes to: `up` or `down` and since when, how many records wait and since
 * when the oldest, how many were written and how many a second, the last error, and what was put aside because the store
 * did not take it. Where jobs and events go to the same one, events have an entry of their own.
 *
 * @example salt-run returner.status
 */
export const status = fn(async (_, { master }) => {
  const rows = new Map<string, object>()
  for (const { returner, ...row } of await master.returners.status())
    rows.set(rows.has(returner) ? `${returner} (events)` : returner, row)
  return Object.fromEntries(rows)
})

/**
 * Write a return of a minion that does not exist, read it back and remove it, as far as the returner can. Says what it
 * saw and how long each step took.
 *
 * @example salt-run returner.test postgres
 */
export const test = fn({ name }, async (args, { master }) => master.returners.test(args.name))

/**
 * Create what a store needs, tables for example, or bring it up to date.
 *
 * @example salt-run returner.migrate postgres
 */
export const migrate = fn({ name }, async (args, { master }) => master.returners.migrate(args.name))

/**
 * Write again what was put aside, or only some of it.
 *
 * @example salt-run returner.retry postgres
 * @example salt-run returner.retry postgres 17,18
 */
export const retry = fn({ name, numbers }, async (args, { master }) => {
  const count = await master.returners.retry(args.name, args.numbers)
  return count > 0 ? `${count} records will be written again.` : nothing(args.name)
})

/**
 * Drop what was put aside, or only some of it, for good.
 *
 * @example salt-run returner.purge postgres 17
 */
export const purge = fn({ name, numbers }, async (args, { master }) => {
  const count = await master.returners.purge(args.name, args.numbers)
  return count > 0 ? `${count} records were dropped.` : nothing(args.name)
})

function nothing(returner: string): never {
  throw new CommandExecutionError(
    `Nothing of the returner ${returner} was put aside. See salt-run returner.status.`,
  )
}
