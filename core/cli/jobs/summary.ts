/** Summary of a job, for `--summary` and `-v`. */
import { printNote } from '../output/console.ts'
import { foldedIds } from './folded-ids.ts'
import type { MinionProblem, Tally } from './tally.ts'

const RULE = '-'.repeat(43)

/** Print Salt's summary, followed by the states if anything went wrong. */
export function printSummary(tally: Tally, verbose: boolean): void {
  const { total, returned, missing, waiting, failures, unknown } = tally
  const ids = (list: readonly MinionProblem[]) => (verbose ? list.map(({ id }) => id).sort() : [])
  const states = statesOf(tally)
  const lines = [
    '',
    '',
    RULE,
    'Summary',
    RULE,
    `# of minions targeted: ${total}`,
    `# of minions returned: ${returned}`,
    `# of minions that did not return: ${missing.length}`,
    ...ids(missing),
    ...(waiting.length > 0
      ? [`# of minions that get the job when they come: ${waiting.length}`, ...ids(waiting)]
      : []),
    ...(unknown.length > 0
      ? [`# of minions that perhaps do not match: ${unknown.length}`, ...ids(unknown)]
      : []),
    `# of minions with errors: ${failures.length}`,
    ...ids(failures),
    RULE,
    ...(states.length > 0 ? ['States', RULE, ...states, RULE] : []),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Print the states to standard error. */
export function printStates(tally: Tally): void {
  for (const line of statesOf(tally)) printNote(line)
}

/** Return a line per state and reason: `not_connected: web[01-40] (40). It was …` */
function statesOf({ succeeded, failures, missing, waiting, unknown }: Tally): string[] {
  const groups = new Map<string, { readonly problem: MinionProblem; readonly ids: string[] }>()
  for (const problem of [...failures, ...missing, ...waiting, ...unknown]) {
    const key = `${problem.state}\n${problem.why}`
    const group = groups.get(key) ?? { problem, ids: [] }
    groups.set(key, group)
    group.ids.push(problem.id)
  }
  if (groups.size === 0) return []
  const fine = succeeded > 0 ? [`returned: ${succeeded}`] : []
  const others = [...groups.values()].map(({ problem, ids }) => {
    const count = ids.length > 1 ? ` (${ids.length})` : ''
    return `${problem.state}: ${foldedIds(ids)}${count}. ${problem.why}`
  })
  return [...fine, ...others]
}
