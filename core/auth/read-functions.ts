import { messageOf } from '../base/errors.ts'
import { isRecord } from '../wire/bytes.ts'
import { argumentText } from './argument-text.ts'
import { placeIn } from './place.ts'
import { kindOf, type Reading } from './reading.ts'
import { type Condition, type FunctionRule, type Pattern, readPattern } from './rule.ts'

/**
 * What stands behind a target, or a word with `@`: a regular expression for functions, or one with what their arguments
 * have to be like, or a list of these.
 */
export function readFunctions(
  functions: unknown,
  place: string,
  reading: Reading,
  placeOf: (index: number) => string = (index) => placeIn(place, index),
): FunctionRule[] {
  if (functions === null || functions === undefined) return []
  const list = Array.isArray(functions) ? functions : [functions]
  return list.flatMap((entry, index) => readFunction(entry, placeOf(index), reading))
}

function readFunction(entry: unknown, place: string, reading: Reading): FunctionRule[] {
  if (typeof entry === 'string' && entry !== '') return rule(entry, undefined, place, reading)
  const [[name, given] = [], ...more] = isRecord(entry) ? Object.entries(entry) : []
  if (name === undefined || more.length > 0) {
    const form = "must be a function, or one function with 'args' and 'kwargs'"
    const found = isRecord(entry) ? `has ${Object.keys(entry).length} of them` : `is ${kindOf(entry)}`
    reading.problem('unreadable', `${place} ${form}, but ${found}.`)
    return []
  }
  const inside = placeIn(place, name)
  const conditions = (Array.isArray(given) ? given : [given]).map((one, index) =>
    readCondition(one, Array.isArray(given) ? placeIn(inside, index) : inside, reading),
  )
  const usable = conditions.filter((condition) => condition !== undefined)
  return rule(name, usable, place, reading)
}

function rule(
  name: string,
  conditions: readonly Condition[] | undefined,
  place: string,
  reading: Reading,
): FunctionRule[] {
  if (name.startsWith('@')) {
    reading.problem(
      'unreadable',
      `${place}: '${name}' means nothing here. Write it as an entry of its own, not inside a target.`,
    )
    return []
  }
  const fun = patternAt(name, place, reading)
  const shown = `${place}: '${name}'`
  return fun ? [{ place: shown, fun, ...(conditions && { conditions }) }] : []
}

/** Undefined for one that allows nothing. */
function readCondition(given: unknown, place: string, reading: Reading): Condition | undefined {
  if (!isRecord(given)) {
    reading.problem('unreadable', `${place} must be a map with 'args' or 'kwargs', but is ${kindOf(given)}.`)
    return undefined
  }
  const { args, kwargs, ...others } = given
  const strange = Object.keys(others)
  if (strange.length > 0) {
    const known = "knows only 'args' and 'kwargs'"
    reading.problem('unreadable', `${place} ${known}, not ${strange.map((name) => `'${name}'`).join(', ')}.`)
    return undefined
  }
  const places = Array.isArray(args ?? []) ? ((args ?? []) as unknown[]) : undefined
  if (!places || !isRecord(kwargs ?? {})) {
    const form = "takes a list of regular expressions as 'args' and a map of them as 'kwargs'"
    reading.problem(
      'unreadable',
      `${place} ${form}, but ${places ? 'kwargs' : 'args'} is ${kindOf(places ? kwargs : args)}.`,
    )
    return undefined
  }
  const problems: unknown[] = []
  const noting: Reading = {
    ...reading,
    problem: (...problem) => {
      problems.push(problem)
      reading.problem(...problem)
    },
  }
  const condition = {
    args: places.map((one, index) => argumentPattern(one, `${place}.args[${index}]`, noting)),
    kwargs: new Map(
      Object.entries((kwargs ?? {}) as object).map(([name, one]) => [
        name,
        argumentPattern(one, placeIn(`${place}.kwargs`, name), noting),
      ]),
    ),
  }
  return problems.length > 0 ? undefined : condition
}

/** Nothing, `~` in YAML, stands for anything. Numbers and truth values are what they are written as in Python. */
function argumentPattern(given: unknown, place: string, reading: Reading): Pattern | undefined {
  if (given === null) return undefined
  if (typeof given === 'object') {
    reading.problem('unreadable', `${place} must be a regular expression, but is ${kindOf(given)}.`)
    return undefined
  }
  return patternAt(argumentText(given), place, reading)
}

/** Undefined for one that makes no sense, which is told. */
export function patternAt(text: string, place: string, reading: Reading): Pattern | undefined {
  try {
    return readPattern(text)
  } catch (error) {
    reading.problem('unusable', `${place} allows nothing. ${messageOf(error)}`)
    return undefined
  }
}
