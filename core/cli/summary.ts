/** What `--summary` and `-v` say of how a job ended. */
import { tell } from './console.ts'
import { foldedIds } from './folded-ids.ts'
import type { Exception, Tally } from './tally.ts'

const RULE = '-'.repeat(43)

/** Salt's block; where not everything went well another one with the states follows. */
export function printSummary(tally: Tally, verbose: boolean): void {
  const { total, returned, missing, failures, unknown } = tally
  const ids = (list: readonly Exception[]) => (verbose ? list.map(({ id }) => id).sort() : [])
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
    ...(unknown.length > 0
      ? [`# of minions that are perhaps not meant: ${unknown.length}`, ...ids(unknown)]
      : []),
    `# of minions with errors: ${failures.length}`,
    ...ids(failures),
    RULE,
    ...(states.length > 0 ? ['States', RULE, ...states, RULE] : []),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** For those who want to know more, beside the data. */
export function tellStates(tally: Tally): void {
  for (const line of statesOf(tally)) tell(line)
}

/** A line for all minions of which the same is known: `not_connected: web[01-40] (40). It was …` */
function statesOf({ succeeded, failures, missing, unknown }: Tally): string[] {
  const groups = new Map<string, { readonly told: Exception; readonly ids: string[] }>()
  for (const told of [...failures, ...missing, ...unknown]) {
    const key = `${told.state}\n${told.why}`
    const group = groups.get(key) ?? { told, ids: [] }
    groups.set(key, group)
    group.ids.push(told.id)
  }
  if (groups.size === 0) return []
  const fine = succeeded > 0 ? [`returned: ${succeeded}`] : []
  const others = [...groups.values()].map(({ told, ids }) => {
    const count = ids.length > 1 ? ` (${ids.length})` : ''
    return `${told.state}: ${foldedIds(ids)}${count}. ${told.why}`
  })
  return [...fine, ...others]
}
