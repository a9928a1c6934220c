/** The external stores of returns, jobs and events. */
import { CommandExecutionError, fn, p } from 'salt-ts'

const name = p.described(p.string({ minLength: 1 }), 'Name of a returner.')
const numbers = p.optional(
  p.described(p.array(p.integer({ minimum: 0 })), 'Numbers that status shows; all if left out.'),
)

/**
 * Show the state of each returner that the master writes to: `up` or `down` and since when, how many records wait and
 * since when the oldest, how many were written and how many per second, the last error, and the records put aside
 * because the store refused them. If jobs and events use the same returner, events have a separate entry.
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
 * Write a return of a nonexistent minion, read it back and delete it, as far as the returner supports that. Reports
 * what it read and how long each step took.
 *
 * @example salt-run returner.test postgres
 */
export const test = fn({ name }, async (args, { master }) => master.returners.test(args.name))

/**
 * Create what a store needs, such as tables, or bring it up to date.
 *
 * @example salt-run returner.migrate postgres
 */
export const migrate = fn({ name }, async (args, { master }) => master.returners.migrate(args.name))

/**
 * Write records that were put aside again: all, or those with these numbers.
 *
 * @example salt-run returner.retry postgres
 * @example salt-run returner.retry postgres 17,18
 */
export const retry = fn({ name, numbers }, async (args, { master }) => {
  const count = await master.returners.retry(args.name, args.numbers)
  return count > 0 ? `${count} records will be written again.` : nothing(args.name)
})

/**
 * Discard records that were put aside for good: all, or those with these numbers.
 *
 * @example salt-run returner.purge postgres 17
 */
export const purge = fn({ name, numbers }, async (args, { master }) => {
  const count = await master.returners.purge(args.name, args.numbers)
  return count > 0 ? `${count} records were dropped.` : nothing(args.name)
})

function nothing(returner: string): never {
  throw new CommandExecutionError(
    `The returner ${returner} has no records put aside, or none with these numbers. See salt-run returner.status.`,
  )
}
