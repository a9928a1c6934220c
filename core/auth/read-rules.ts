import { messageOf } from '../base/errors.ts'
import { checkTarget, expandCompound } from '../targets/index.ts'
import { isRecord } from '../wire/bytes.ts'
import { placeIn } from './place.ts'
import { readFunctions } from './read-functions.ts'
import { RETURNERS, readReturners } from './read-returners.ts'
import { kindOf, type Reading } from './reading.ts'
import type { MasterRule, MinionRule, Rule } from './rule.ts'

/**
 * The entries of one user or group, in the forms of Salt's `external_auth` and `publisher_acl`. What is wrong is told and
 * allows nothing.
 */
export function readRules(entries: unknown, place: string, reading: Reading): Rule[] {
  if (entries === null || entries === undefined) return []
  if (Array.isArray(entries))
    return entries.flatMap((entry, index) => readRule(entry, placeIn(place, index), reading))
  reading.problem(
    'unreadable',
    `${place} must be a list of what is allowed, but is ${kindOf(entries)}. Write each function as an entry: - test.*`,
  )
  return []
}

function readRule(entry: unknown, place: string, reading: Reading): Rule[] {
  if (typeof entry === 'string' && entry !== '')
    return entry.startsWith('@')
      ? wordRule(entry, undefined, place, reading)
      : everywhere(entry, place, reading)
  if (!isRecord(entry)) {
    const forms =
      "a function, '@runner', '@wheel', '@<module>', '@returners', or a target with a list of functions"
    reading.problem('unreadable', `${place} must be ${forms}, but is ${kindOf(entry)}.`)
    return []
  }
  const [[name, functions] = [], ...more] = Object.entries(entry)
  if (name === undefined || more.length > 0) {
    const targets = Object.keys(entry).map((key) => `'${key}'`)
    reading.problem(
      'unreadable',
      `${place} must be one target with its functions, but names ${targets.join(' and ') || 'none'}. Write each as an entry of its own, with a dash before it.`,
    )
    return []
  }
  if (name.startsWith('@')) return wordRule(name, functions, placeIn(place, name), reading)
  return targeted(name, functions, placeIn(place, name), reading)
}

function everywhere(fun: string, place: string, reading: Reading): MinionRule[] {
  const functions = readFunctions([fun], place, reading, () => place)
  return functions.length > 0 ? [{ on: 'minions', place, functions }] : []
}

function targeted(target: string, functions: unknown, place: string, reading: Reading): MinionRule[] {
  try {
    checkTarget({ tgt: expandCompound(target, reading.nodegroups), tgt_type: 'compound' })
  } catch (error) {
    reading.problem(
      'unusable',
      `${place} allows nothing, because its target makes no sense: ${messageOf(error)}`,
    )
    return []
  }
  return [{ on: 'minions', place, target, functions: readFunctions(functions, place, reading) }]
}

/** An entry that begins with `@`; `given` is what stands behind it. */
const wordRule = (word: string, given: unknown, place: string, reading: Reading): Rule[] =>
  word === RETURNERS ? [readReturners(given, place, reading)] : masterRule(word, given, place, reading)

function masterRule(word: string, functions: unknown, place: string, reading: Reading): MasterRule[] {
  const name = word.slice(1)
  if (!/^\w+$/.test(name)) {
    reading.problem(
      'unreadable',
      `${place}: after the @ stands runner, wheel or the name of a module, not '${name}'.`,
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
