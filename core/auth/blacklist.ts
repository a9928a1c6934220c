import { messageOf } from '../base/errors.ts'
import { checkNamePattern, couldMean } from '../base/name-pattern.ts'
import { localName } from './members.ts'
import { placeIn } from './place.ts'
import { kindOf, type Reading } from './reading.ts'

/** `publisher_acl_blacklist`: what nobody may do, not even with the key of the master's user. */
export interface Blacklist {
  readonly users?: unknown
  readonly modules?: unknown
}

const OPTION = 'publisher_acl_blacklist'

/**
 * The rule that takes all rights from this user. Patterns see who uses sudo as `sudo_fred`, so that `^(?!sudo_).*$` means
 * all who do not; the name `fred` alone means both.
 */
export const forbidsUser = ({ users }: Blacklist, name: string): string | undefined =>
  found('users', users, (pattern) => couldMean(pattern, name) || pattern === localName(name))

/** The rule that forbids this function; a bare `cmd` means the whole module. */
export const forbidsFunction = ({ modules }: Blacklist, fun: string): string | undefined =>
  found('modules', modules, (pattern) => couldMean(pattern, fun) || fun.startsWith(`${pattern}.`))

function found(name: string, list: unknown, means: (pattern: string) => boolean): string | undefined {
  const patterns = listOf(list)
  const index = patterns.findIndex(means)
  return index < 0 ? undefined : `${OPTION}.${name}[${index}]: '${patterns[index]}'`
}

/** One word stands for a list of it, as in Salt. */
const listOf = (value: unknown): readonly string[] =>
  [value].flat().filter((each): each is string => typeof each === 'string')

/** What is wrong here would leave something allowed, so it is always `unreadable`. */
export function checkBlacklist(blacklist: Blacklist, { problem }: Reading): void {
  for (const [name, list] of Object.entries(blacklist)) {
    if (name !== 'users' && name !== 'modules')
      problem('unreadable', `${OPTION} knows 'users' and 'modules', not '${name}'.`)
    for (const [index, pattern] of [list ?? []].flat().entries()) {
      const place = placeIn(`${OPTION}.${name}`, index)
      if (typeof pattern !== 'string')
        problem('unreadable', `${place} must be text, but is ${kindOf(pattern)}.`)
      else checkPattern(pattern, place, problem)
    }
  }
}

function checkPattern(pattern: string, place: string, problem: Reading['problem']): void {
  try {
    checkNamePattern(pattern)
  } catch (error) {
    problem('unreadable', `${place} forbids nothing. ${messageOf(error)}`)
  }
}
