import { configPath } from './config-path.ts'
import { patternAt } from './read-functions.ts'
import type { ReturnerName, ReturnerRule } from './rule.ts'
import { describeValue, type RuleReading } from './rule-reading.ts'

export const RETURNERS = '@returners'

/** Read the value of `@returners`: a regular expression for names, or a list of them. Without a value: all returners. */
export function readReturners(given: unknown, place: string, reading: RuleReading): ReturnerRule {
  if (given === undefined) return { on: 'returners', place: `${place}: '${RETURNERS}'` }
  const names = Array.isArray(given)
    ? given.map((name, index) => readName(name, configPath(place, index), reading))
    : [readName(given, place, reading)]
  return { on: 'returners', place, names: names.filter((name) => name !== undefined) }
}

function readName(text: unknown, place: string, reading: RuleReading): ReturnerName | undefined {
  if (typeof text !== 'string' || text === '') {
    reading.problem('unreadable', `${place} must be the name of a returner, but is ${describeValue(text)}.`)
    return undefined
  }
  const name = patternAt(text, place, reading)
  return name && { place: `${place}: '${text}'`, name }
}
