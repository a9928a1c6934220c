import { messageOf } from '../base/errors.ts'
import { checkNamePattern, mayMatch } from '../dialect/name-pattern.ts'
import { configPath } from './config-path.ts'
import { localName } from './matching-entries.ts'
import { describeValue, type RuleReading } from './rule-reading.ts'

/** `publisher_acl_blacklist`: what is forbidden for everybody, even with the key of the master's user. */
export interface Blacklist {
  readonly users?: unknown
  readonly modules?: unknown
}

const OPTION = 'publisher_acl_blacklist'

/**
 * Return the rule that takes all rights from a user. Patterns are matched with `sudo_fred` for a user of sudo, so that
 * `^(?!sudo_).*$` matches everybody who does not use sudo; the plain name `fred` matches both.
 */
export const forbidsUser = ({ users }: Blacklist, name: string): string | undefined =>
  found('users', users, (pattern) => mayMatch(pattern, name) || pattern === localName(name))

/** Return the rule that forbids a function; a bare `cmd` forbids the whole module. */
export const forbidsFunction = ({ modules }: Blacklist, fun: string): string | undefined =>
  found('modules', modules, (pattern) => mayMatch(pattern, fun) || fun.startsWith(`${pattern}.`))

function found(name: string, list: unknown, means: (pattern: string) => boolean): string | undefined {
  const patterns = listOf(list)
  const index = patterns.findIndex(means)
  return index < 0 ? undefined : `${OPTION}.${name}[${index}]: '${patterns[index]}'`
}

/** Return a list. As in Salt, a single text stands for a list of one. */
const listOf = (value: unknown): readonly string[] =>
  [value].flat().filter((each): each is string => typeof each === 'string')

/** Check the blacklist. All problems are `unreadable`, because a wrong entry would leave something allowed. */
export function checkBlacklist(blacklist: Blacklist, { problem }: RuleReading): void {
  for (const [name, list] of Object.entries(blacklist)) {
    if (name !== 'users' && name !== 'modules')
      problem('unreadable', `${OPTION} supports 'users' and 'modules', not '${name}'.`)
    for (const [index, pattern] of [list ?? []].flat().entries()) {
      const place = configPath(`${OPTION}.${name}`, index)
      if (typeof pattern !== 'string')
        problem('unreadable', `${place} must be text, but is ${describeValue(pattern)}.`)
      else checkPattern(pattern, place, problem)
    }
  }
}

function checkPattern(pattern: string, place: string, problem: RuleReading['problem']): void {
  try {
    checkNamePattern(pattern)
  } catch (error) {
    problem('unreadable', `${place} is not a valid pattern, so it forbids nothing: ${messageOf(error)}`)
  }
}
