import { messageOf } from '../base/errors.ts'
import { isRecord } from '../wire/bytes.ts'
import { placeIn } from './place.ts'
import { readFunctions } from './read-functions.ts'
import { readRules } from './read-rules.ts'
import { kindOf, type Reading } from './reading.ts'
import { type Pattern, type Rule, readPattern } from './rule.ts'

/** What the minions whose whole ids match a regular expression may do. */
export interface PeerRules {
  readonly ids: Pattern
  readonly rules: readonly Rule[]
}

/** `peer`, in the forms of `external_auth`, and `peer_run`, which lists regular expressions for runners. */
export function readPeers(option: 'peer' | 'peer_run', map: unknown, reading: Reading): PeerRules[] {
  if (!isRecord(map)) {
    if (map !== null && map !== undefined)
      reading.problem('unreadable', `${option} must be a map of expressions for ids, but is ${kindOf(map)}.`)
    return []
  }
  return Object.entries(map).flatMap(([ids, entries]) => {
    const place = placeIn(option, ids)
    try {
      return [{ ids: readPattern(ids), rules: rulesOf(option, entries, place, reading) }]
    } catch (error) {
      reading.problem('unusable', `${place} allows nothing. ${messageOf(error)}`)
      return []
    }
  })
}

function rulesOf(option: 'peer' | 'peer_run', entries: unknown, place: string, reading: Reading): Rule[] {
  if (option === 'peer') return readRules(entries, place, reading)
  if (entries === null || Array.isArray(entries))
    return [{ on: 'master', place, name: 'runner', functions: readFunctions(entries, place, reading) }]
  reading.problem('unreadable', `${place} must be a list of runners, but is ${kindOf(entries)}.`)
  return []
}
