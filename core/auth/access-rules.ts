import { messageOf } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { checkNamePattern } from '../dialect/name-pattern.ts'
import { type Blacklist, checkBlacklist } from './blacklist.ts'
import { configPath } from './config-path.ts'
import { isSetting, matchingEntries, type RightsHolder } from './matching-entries.ts'
import { type PeerRules, readPeers } from './peer.ts'
import { readRules } from './read-rules.ts'
import type { Rule } from './rule.ts'
import { describeValue, type RuleProblem, type RuleReading } from './rule-reading.ts'

/** The options with access rules. */
export interface AccessConfig {
  readonly external_auth: Readonly<Record<string, unknown>>
  readonly publisher_acl: Readonly<Record<string, unknown>>
  readonly publisher_acl_blacklist: Blacklist
  readonly permissive_acl: boolean
  readonly nodegroups: Readonly<Record<string, unknown>>
  readonly peer: Readonly<Record<string, unknown>>
  readonly peer_run: Readonly<Record<string, unknown>>
  readonly visible_jobs: 'own' | 'all'
}

/** The rights of a caller. */
export interface Rights {
  /** Place of the rules in the configuration: `external_auth.pam`. */
  readonly source: string
  readonly rules: readonly Rule[]
  /** The entries as the configuration has them. */
  readonly entries: readonly unknown[]
}

/** The access rules of the configuration, parsed once. Looks up the rules of a caller. */
export class AccessRules {
  readonly problems: readonly RuleProblem[]
  readonly #config: AccessConfig
  readonly #reading: RuleReading
  /** Rules by their place in the configuration. */
  readonly #rules = new Map<string, Rule[]>()
  readonly #peers: Readonly<Record<'peer' | 'peer_run', readonly PeerRules[]>>

  constructor(config: AccessConfig) {
    const problems: RuleProblem[] = []
    this.problems = problems
    this.#config = config
    this.#reading = {
      nodegroups: config.nodegroups,
      problem: (kind, sentence) => void problems.push({ kind, sentence }),
    }
    const { external_auth, publisher_acl, publisher_acl_blacklist, peer, peer_run } = config
    for (const [backend, map] of Object.entries(external_auth))
      this.#readMap(map, configPath('external_auth', backend))
    this.#readMap(publisher_acl, 'publisher_acl')
    checkBlacklist(publisher_acl_blacklist, this.#reading)
    this.#peers = {
      peer: readPeers('peer', peer, this.#reading),
      peer_run: readPeers('peer_run', peer_run, this.#reading),
    }
  }

  /** Return the rights of a user of an `external_auth` backend. */
  ofExternal(backend: string, person: RightsHolder): Rights {
    const { external_auth } = this.#config
    const map = Object.hasOwn(external_auth, backend) ? external_auth[backend] : undefined
    const source = configPath('external_auth', backend)
    return this.#rightsIn(isRecord(map) ? map : {}, source, person, this.#config.permissive_acl)
  }

  /** Return the rights of a user of the master's host. */
  ofLocal(person: RightsHolder): Rights {
    return this.#rightsIn(this.#config.publisher_acl, 'publisher_acl', person, true)
  }

  /** Return the rights of a minion: what it may publish, or which runners it may use. */
  ofMinion(id: string, option: 'peer' | 'peer_run'): Rights {
    const rules = this.#peers[option].filter(({ ids }) => ids.matches(id)).flatMap((each) => each.rules)
    return { source: option, rules, entries: [] }
  }

  /** Read entries from outside the configuration. Wrong entries are passed to `report` and allow nothing. */
  ofEntries(entries: readonly unknown[], source: string, report: (problem: string) => void): Rights {
    const problem: RuleReading['problem'] = (_, sentence) => report(sentence)
    return { source, entries, rules: readRules(entries, source, { ...this.#reading, problem }) }
  }

  #readMap(map: unknown, place: string): void {
    if (map === null || map === undefined) return
    if (!isRecord(map)) {
      const form = `${place} must be a map of users and groups, each with a list of what is allowed`
      this.#reading.problem('unreadable', `${form}, but is ${describeValue(map)}.`)
      return
    }
    for (const [key, entries] of Object.entries(map)) {
      if (isSetting(key)) continue
      const inside = configPath(place, key)
      this.#rules.set(inside, readRules(entries, inside, this.#reading))
      if (!key.endsWith('%')) this.#checkKey(key, inside)
    }
  }

  #checkKey(key: string, place: string): void {
    try {
      checkNamePattern(key)
    } catch (error) {
      this.#reading.problem('unusable', `${place} is invalid and may match no user. ${messageOf(error)}`)
    }
  }

  #rightsIn(
    map: Readonly<Record<string, unknown>>,
    source: string,
    person: RightsHolder,
    always: boolean,
  ): Rights {
    const applying = matchingEntries(map, person, { always })
    return {
      source,
      rules: applying.flatMap(([key]) => this.#rules.get(configPath(source, key)) ?? []),
      entries: applying.flatMap(([, entries]) => (Array.isArray(entries) ? entries : [])),
    }
  }
}
