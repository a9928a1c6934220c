import { messageOf } from '../base/errors.ts'
import { configPath } from './config-path.ts'
import { type Pattern, readPattern } from './rule.ts'
import { describeValue } from './rule-reading.ts'

/** Whether a minion may get the values of a name from the mine. */
export type MineAccess = (id: string, name: string) => boolean

/**
 * Read `mine_get`, a map of regular expressions for ids to lists of regular expressions for names. Without it every minion may get
 * everything. `problem` is called with a sentence about each part that is invalid and allows nothing.
 */
export function readMineAccess(
  option: Readonly<Record<string, unknown>> | undefined,
  problem: (sentence: string) => void,
): MineAccess {
  if (option === undefined) return () => true
  const rules = Object.entries(option).map(([ids, names]) => ({
    ids: patternsIn([ids], configPath('mine_get', ids), problem),
    names: patternsIn(names, configPath('mine_get', ids), problem),
  }))
  return (id, name) => rules.some(({ ids, names }) => matchesOne(ids, id) && matchesOne(names, name))
}

const matchesOne = (patterns: readonly Pattern[], text: string): boolean =>
  patterns.some((pattern) => pattern.matches(text))

function patternsIn(list: unknown, place: string, problem: (sentence: string) => void): Pattern[] {
  if (!Array.isArray(list)) {
    problem(
      `${place} must be a list of expressions for names, but is ${describeValue(list)}. It allows nothing.`,
    )
    return []
  }
  return list.flatMap((text) => {
    try {
      return [readPattern(String(text))]
    } catch (error) {
      problem(`${place} allows less than it says. ${messageOf(error)}`)
      return []
    }
  })
}
