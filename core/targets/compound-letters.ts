import type { Matcher } from '../author/kinds.ts'
import { saltLetters, type TargetLetters } from '../dialect/compound-target.ts'

/**
 * Return Salt's letters for compound targets and those of users' matchers. `warn` is called for letters that they cannot have.
 */
export function compoundLetters(
  matchers: ReadonlyMap<string, Matcher>,
  warn: (sentence: string) => void,
): TargetLetters {
  const letters = new Map(saltLetters)
  for (const [type, { letter, delimited = false }] of matchers) {
    if (letter === undefined) continue
    const taken = letters.get(letter)
    if (!/^[A-Za-z]$/.test(letter))
      warn(
        `The matcher '${type}' cannot have '${letter}' as its letter: it must be a single letter from A to Z.`,
      )
    else if (taken && taken.type !== type)
      warn(`The matcher '${type}' cannot have the letter ${letter}: it belongs to '${taken.type}'.`)
    else letters.set(letter, { type, delimited })
  }
  return letters
}
