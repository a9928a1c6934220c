import { messageOf } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { argumentText } from './argument-text.ts'
import { configPath } from './config-path.ts'
import { type Condition, type FunctionRule, type Pattern, readPattern } from './rule.ts'
import { describeValue, type RuleReading } from './rule-reading.ts'

/**
 * Read the functions after a target, or after a word with `@`: a regular expression for functions, one with conditions on their
 * arguments, or a list of these.
 */
export function readFunctions(
  functions: unknown,
  place: string,
  reading: RuleReading,
  placeOf: (index: number) => string = (index) => configPath(place, index),
): FunctionRule[] {
  if (functions === null || functions === undefined) return []
  const list = Array.isArray(functions) ? functions : [functions]
  return list.flatMap((entry, index) => readFunction(entry, placeOf(index), reading))
}

function readFunction(entry: unknown, place: string, reading: RuleReading): FunctionRule[] {
  if (typeof entry === 'string' && entry !== '') return rule(entry, undefined, place, reading)
  const [[name, given] = [], ...more] = isRecord(entry) ? Object.entries(entry) : []
  if (name === undefined || more.length > 0) {
    const form = "must be a function, or one function with 'args' and 'kwargs'"
    const found = isRecord(entry) ? `has ${Object.keys(entry).length} of them` : `is ${describeValue(entry)}`
    reading.problem('unreadable', `${place} ${form}, but ${found}.`)
    return []
  }
  const inside = configPath(place, name)
  const conditions = (Array.isArray(given) ? given : [given]).map((one, index) =>
    readCondition(one, Array.isArray(given) ? configPath(inside, index) : inside, reading),
  )
  const usable = conditions.filter((condition) => condition !== undefined)
  return rule(name, usable, place, reading)
}

function rule(
  name: string,
  conditions: readonly Condition[] | undefined,
  place: string,
  reading: RuleReading,
): FunctionRule[] {
  if (name.startsWith('@')) {
    reading.problem(
      'unreadable',
      `${place}: '${name}' is not allowed here. Write it as a separate entry, not inside a target.`,
    )
    return []
  }
  const fun = patternAt(name, place, reading)
  const shown = `${place}: '${name}'`
  return fun ? [{ place: shown, fun, ...(conditions && { conditions }) }] : []
}

/** Read a condition; undefined for an invalid one, which allows nothing. */
function readCondition(given: unknown, place: string, reading: RuleReading): Condition | undefined {
  if (!isRecord(given)) {
    reading.problem(
      'unreadable',
      `${place} must be a map with 'args' or 'kwargs', but is ${describeValue(given)}.`,
    )
    return undefined
  }
  const { args, kwargs, ...others } = given
  const unknown = Object.keys(others)
  if (unknown.length > 0) {
    const known = "supports only 'args' and 'kwargs'"
    reading.problem('unreadable', `${place} ${known}, not ${unknown.map((name) => `'${name}'`).join(', ')}.`)
    return undefined
  }
  const places = Array.isArray(args ?? []) ? ((args ?? []) as unknown[]) : undefined
  if (!places || !isRecord(kwargs ?? {})) {
    const form = "takes a list of regular expressions as 'args' and a map of them as 'kwargs'"
    reading.problem(
      'unreadable',
      `${place} ${form}, but ${places ? 'kwargs' : 'args'} is ${describeValue(places ? kwargs : args)}.`,
    )
    return undefined
  }
  const problems: unknown[] = []
  const noting: RuleReading = {
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
        argumentPattern(one, configPath(`${place}.kwargs`, name), noting),
      ]),
    ),
  }
  return problems.length > 0 ? undefined : condition
}

/** Read the pattern of an argument. Null, `~` in YAML, matches anything. Numbers and booleans are matched as Python writes them. */
function argumentPattern(given: unknown, place: string, reading: RuleReading): Pattern | undefined {
  if (given === null) return undefined
  if (typeof given === 'object') {
    reading.problem('unreadable', `${place} must be a regular expression, but is ${describeValue(given)}.`)
    return undefined
  }
  return patternAt(argumentText(given), place, reading)
}

/** Compile a pattern. An invalid one is reported, and undefined is returned. */
export function patternAt(text: string, place: string, reading: RuleReading): Pattern | undefined {
  try {
    return readPattern(text)
  } catch (error) {
    reading.problem('unusable', `${place} allows nothing. ${messageOf(error)}`)
    return undefined
  }
}
