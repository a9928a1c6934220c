import type { Matcher } from '../author/kinds.ts'
import { saltLetters, type TargetLetters } from '../base/compound-target.ts'

/** Salt's letters for compound targets, and those that matchers of users have; `complain` is told which they cannot have. */
export function lettersOf(
  matchers: ReadonlyMap<string, Matcher>,
  complain: (sentence: string) => void,
): TargetLetters {
  const letters = new Map(saltLetters)
  for (const [type, { letter, delimited = false }] of matchers) {
    if (letter === undefined) continue
    const taken = letters.get(letter)
    if (!/^[A-Za-z]$/.test(letter)) complain(`The matcher '${type}' cannot have '${letter}' as its letter.`)
    else if (taken && taken.type !== type)
      complain(`The matcher '${type}' cannot have the letter ${letter}: it stands for '${taken.type}'.`)
    else letters.set(letter, { type, delimited })
  }
  return letters
}
