import { messageOf } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { checkTarget, expandCompound } from '../targets/index.ts'
import { configPath } from './config-path.ts'
import { readFunctions } from './read-functions.ts'
import { RETURNERS, readReturners } from './read-returners.ts'
import type { MasterRule, MinionRule, Rule } from './rule.ts'
import { describeValue, type RuleReading } from './rule-reading.ts'

/**
 * Read the entries of a user or group, in the forms of Salt's `external_auth` and `publisher_acl`. Wrong entries are reported and
 * allow nothing.
 */
export function readRules(entries: unknown, place: string, reading: RuleReading): Rule[] {
  if (entries === null || entries === undefined) return []
  if (Array.isArray(entries))
    return entries.flatMap((entry, index) => readRule(entry, configPath(place, index), reading))
  reading.problem(
    'unreadable',
    `${place} must be a list of what is allowed, but is ${describeValue(entries)}. Write each function as an entry: - test.*`,
  )
  return []
}

function readRule(entry: unknown, place: string, reading: RuleReading): Rule[] {
  if (typeof entry === 'string' && entry !== '')
    return entry.startsWith('@')
      ? wordRule(entry, undefined, place, reading)
      : everywhere(entry, place, reading)
  if (!isRecord(entry)) {
    const forms =
      "a function, '@runner', '@wheel', '@<module>', '@returners', or a target with a list of functions"
    reading.problem('unreadable', `${place} must be ${forms}, but is ${describeValue(entry)}.`)
    return []
  }
  const [[name, functions] = [], ...more] = Object.entries(entry)
  if (name === undefined || more.length > 0) {
    const targets = Object.keys(entry).map((key) => `'${key}'`)
    reading.problem(
      'unreadable',
      `${place} must be one target with its functions, but has ${targets.join(' and ') || 'none'}. Write each as a separate entry, with a dash before it.`,
    )
    return []
  }
  if (name.startsWith('@')) return wordRule(name, functions, configPath(place, name), reading)
  return targeted(name, functions, configPath(place, name), reading)
}

function everywhere(fun: string, place: string, reading: RuleReading): MinionRule[] {
  const functions = readFunctions([fun], place, reading, () => place)
  return functions.length > 0 ? [{ on: 'minions', place, functions }] : []
}

function targeted(target: string, functions: unknown, place: string, reading: RuleReading): MinionRule[] {
  try {
    checkTarget({ tgt: expandCompound(target, reading.nodegroups), tgt_type: 'compound' })
  } catch (error) {
    reading.problem('unusable', `${place} allows nothing, because its target is invalid: ${messageOf(error)}`)
    return []
  }
  return [{ on: 'minions', place, target, functions: readFunctions(functions, place, reading) }]
}

/** Read an entry that begins with `@`; `given` is its value. */
const wordRule = (word: string, given: unknown, place: string, reading: RuleReading): Rule[] =>
  word === RETURNERS ? [readReturners(given, place, reading)] : masterRule(word, given, place, reading)

function masterRule(word: string, functions: unknown, place: string, reading: RuleReading): MasterRule[] {
  const name = word.slice(1)
  if (!/^\w+$/.test(name)) {
    reading.problem(
      'unreadable',
      `${place}: the @ must be followed by runner, wheel or the name of a module, not by '${name}'.`,
    )
    return []
  }
  const shown = functions === undefined ? `${place}: '${word}'` : place
  return [
    {
      on: 'master',
      place: shown,
      name: /^(?:runner|wheel)s$/.test(name) ? name.slice(0, -1) : name,
      ...(functions !== undefined && { functions: readFunctions(functions, place, reading) }),
    },
  ]
}
