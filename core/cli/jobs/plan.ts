/** Prints the plan of a job that was not sent (`--plan`). */
import type { Plan, PlannedCall } from '../../client/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'
import type { Printer } from '../output/printer.ts'

/** Print a plan and return the exit code: 0 only if the job would work on all minions. */
export async function showPlan(plan: Plan, printer: Printer): Promise<number> {
  if (!plan.allowed) {
    const { user, rule, reason = `User ${user} may not publish this job.` } = plan
    await printer.print({ allowed: false, user, ...(rule !== undefined && { rule }) })
    printNote(`ERROR: ${reason}`)
    return exitCodes.noPermission
  }
  const { user, rule, minions, connected, missing, groups, unknown = [], nobody } = plan
  const away = minions.filter((id) => !connected.includes(id))
  const calls = groups.map((group) => ({ minions: group.minions, calls: group.calls.map(shown) }))
  await printer.print({
    allowed: true,
    user,
    ...(rule !== undefined && { rule }),
    connected,
    ...(away.length > 0 && { 'not known to be connected': away }),
    ...(missing.length > 0 && { 'no accepted key': missing }),
    ...(unknown.length > 0 && { 'perhaps not matched': unknown }),
    groups: calls,
  })
  if (minions.length === 0) {
    printNote(`ERROR: No minions match the target.${nobody === undefined ? '' : `\n${nobody}`}`)
    return exitCodes.nothing
  }
  const works = groups.every((group) => group.calls.every(({ refusal }) => refusal === undefined))
  return works && away.length + missing.length === 0 ? exitCodes.ok : exitCodes.failed
}

function shown({ fun, known, arguments: given, refusal }: PlannedCall): Record<string, unknown> {
  if (refusal !== undefined) return { fun, 'would refuse': refusal }
  return { fun, [known ? 'arguments' : 'arguments (parameters unknown)']: given }
}
