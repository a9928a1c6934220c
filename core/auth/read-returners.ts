import { placeIn } from './place.ts'
import { patternAt } from './read-functions.ts'
import { kindOf, type Reading } from './reading.ts'
import type { ReturnerName, ReturnerRule } from './rule.ts'

export const RETURNERS = '@returners'

/** What stands behind `@returners`: a regular expression for names, or a list of them. Nothing behind it: all. */
export function readReturners(given: unknown, place: string, reading: Reading): ReturnerRule {
  if (given === undefined) return { on: 'returners', place: `${place}: '${RETURNERS}'` }
  const names = Array.isArray(given)
    ? given.map((name, index) => readName(name, placeIn(place, index), reading))
    : [readName(given, place, reading)]
  return { on: 'returners', place, names: names.filter((name) => name !== undefined) }
}

function readName(text: unknown, place: string, reading: Reading): ReturnerName | undefined {
  if (typeof text !== 'string' || text === '') {
    reading.problem('unreadable', `${place} must be the name of a returner, but is ${kindOf(text)}.`)
    return undefined
  }
  const name = patternAt(text, place, reading)
  return name && { place: `${place}: '${text}'`, name }
}
