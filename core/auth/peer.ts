import { messageOf } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { configPath } from './config-path.ts'
import { readFunctions } from './read-functions.ts'
import { readRules } from './read-rules.ts'
import { type Pattern, type Rule, readPattern } from './rule.ts'
import { describeValue, type RuleReading } from './rule-reading.ts'

/** Rules of the minions whose whole id matches a regular expression. */
export interface PeerRules {
  readonly ids: Pattern
  readonly rules: readonly Rule[]
}

/** Read `peer`, which has the forms of `external_auth`, or `peer_run`, which lists regular expressions for runners. */
export function readPeers(option: 'peer' | 'peer_run', map: unknown, reading: RuleReading): PeerRules[] {
  if (!isRecord(map)) {
    if (map !== null && map !== undefined)
      reading.problem(
        'unreadable',
        `${option} must be a map of expressions for ids, but is ${describeValue(map)}.`,
      )
    return []
  }
  return Object.entries(map).flatMap(([ids, entries]) => {
    const place = configPath(option, ids)
    try {
      return [{ ids: readPattern(ids), rules: rulesOf(option, entries, place, reading) }]
    } catch (error) {
      reading.problem('unusable', `${place} allows nothing. ${messageOf(error)}`)
      return []
    }
  })
}

function rulesOf(option: 'peer' | 'peer_run', entries: unknown, place: string, reading: RuleReading): Rule[] {
  if (option === 'peer') return readRules(entries, place, reading)
  if (entries === null || Array.isArray(entries))
    return [{ on: 'master', place, name: 'runner', functions: readFunctions(entries, place, reading) }]
  reading.problem('unreadable', `${place} must be a list of runners, but is ${describeValue(entries)}.`)
  return []
}
