import { messageOf } from '../base/errors.ts'
import { checkNamePattern } from '../base/name-pattern.ts'
import { isRecord } from '../wire/bytes.ts'
import { type Blacklist, checkBlacklist } from './blacklist.ts'
import { isSetting, keysFor, type Person } from './members.ts'
import { type PeerRules, readPeers } from './peer.ts'
import { placeIn } from './place.ts'
import { readRules } from './read-rules.ts'
import { kindOf, type Problem, type Reading } from './reading.ts'
import type { Rule } from './rule.ts'

/** The options that say who may do what. */
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

/** What somebody may do. */
export interface Rights {
  /** Where that stands: `external_auth.pam`. */
  readonly source: string
  readonly rules: readonly Rule[]
  /** The entries as they are written. */
  readonly entries: readonly unknown[]
}

/** The options, read once; the rules of a person are found among them. */
export class AccessRules {
  readonly problems: readonly Problem[]
  readonly #config: AccessConfig
  readonly #reading: Reading
  /** By place. */
  readonly #rules = new Map<string, Rule[]>()
  readonly #peers: Readonly<Record<'peer' | 'peer_run', readonly PeerRules[]>>

  constructor(config: AccessConfig) {
    const problems: Problem[] = []
    this.problems = problems
    this.#config = config
    this.#reading = {
      nodegroups: config.nodegroups,
      problem: (kind, sentence) => void problems.push({ kind, sentence }),
    }
    const { external_auth, publisher_acl, publisher_acl_blacklist, peer, peer_run } = config
    for (const [backend, map] of Object.entries(external_auth))
      this.#readMap(map, placeIn('external_auth', backend))
    this.#readMap(publisher_acl, 'publisher_acl')
    checkBlacklist(publisher_acl_blacklist, this.#reading)
    this.#peers = {
      peer: readPeers('peer', peer, this.#reading),
      peer_run: readPeers('peer_run', peer_run, this.#reading),
    }
  }

  /** Of somebody a backend knows. */
  ofExternal(backend: string, person: Person): Rights {
    const { external_auth } = this.#config
    const map = Object.hasOwn(external_auth, backend) ? external_auth[backend] : undefined
    const source = placeIn('external_auth', backend)
    return this.#rightsIn(isRecord(map) ? map : {}, source, person, this.#config.permissive_acl)
  }

  /** Of a user of the master's host. */
  ofLocal(person: Person): Rights {
    return this.#rightsIn(this.#config.publisher_acl, 'publisher_acl', person, true)
  }

  /** Of a minion: what it may publish, or which runners it may use. */
  ofMinion(id: string, option: 'peer' | 'peer_run'): Rights {
    const rules = this.#peers[option].filter(({ ids }) => ids.matches(id)).flatMap((each) => each.rules)
    return { source: option, rules, entries: [] }
  }

  /** Of entries that stand elsewhere: what is wrong with them is told and allows nothing. */
  ofEntries(entries: readonly unknown[], source: string, tell: (problem: string) => void): Rights {
    const problem: Reading['problem'] = (_, sentence) => tell(sentence)
    return { source, entries, rules: readRules(entries, source, { ...this.#reading, problem }) }
  }

  #readMap(map: unknown, place: string): void {
    if (map === null || map === undefined) return
    if (!isRecord(map)) {
      const form = `${place} must be a map of users and groups, each with a list of what is allowed`
      this.#reading.problem('unreadable', `${form}, but is ${kindOf(map)}.`)
      return
    }
    for (const [key, entries] of Object.entries(map)) {
      if (isSetting(key)) continue
      const inside = placeIn(place, key)
      this.#rules.set(inside, readRules(entries, inside, this.#reading))
      if (!key.endsWith('%')) this.#checkKey(key, inside)
    }
  }

  #checkKey(key: string, place: string): void {
    try {
      checkNamePattern(key)
    } catch (error) {
      this.#reading.problem('unusable', `${place} may mean nobody. ${messageOf(error)}`)
    }
  }

  #rightsIn(map: Readonly<Record<string, unknown>>, source: string, person: Person, always: boolean): Rights {
    const applying = keysFor(map, person, { always })
    return {
      source,
      rules: applying.flatMap(([key]) => this.#rules.get(placeIn(source, key)) ?? []),
      entries: applying.flatMap(([, entries]) => (Array.isArray(entries) ? entries : [])),
    }
  }
}
