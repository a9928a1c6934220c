import { fnmatch } from '../base/fnmatch.ts'
import type { MasterConfig } from '../config/index.ts'
import { isBlacklisted, matchesWhole, type RootKeys } from '../keys/index.ts'
import type { TargetMatcher } from '../targets/index.ts'
import { isRecord } from '../wire/bytes.ts'

/** A local user who has proved who they are; `restricted` ones may do what `publisher_acl` lists. */
export interface Caller {
  readonly user: string
  readonly restricted: boolean
}

export interface Attempt {
  readonly fun: string | readonly string[]
  readonly minions: readonly string[]
}

/** Who may publish what (wire protocol §8.1, §14.4). */
export class Access {
  readonly #config: MasterConfig
  readonly #rootKeys: RootKeys
  readonly #matcher: TargetMatcher

  constructor(config: MasterConfig, rootKeys: RootKeys, matcher: TargetMatcher) {
    this.#config = config
    this.#rootKeys = rootKeys
    this.#matcher = matcher
  }

  /** The master's own key lets anybody act; a user's own key lets them act within `publisher_acl`. */
  async authenticate(user: string, key: string): Promise<Caller | undefined> {
    if (key && (await this.#rootKeys.matches(this.#config.user, key))) return { user, restricted: false }
    if (user.startsWith('sudo_') || user === 'root' || user === this.#config.user) return undefined
    if (!this.#entriesOf(user).length || isBlacklisted(this.#config, user)) return undefined
    if (key && (await this.#rootKeys.matches(user, key))) return { user, restricted: true }
    return undefined
  }

  /** Every function must be allowed on every minion that is expected. A job that reaches nobody is not allowed. */
  authorized(caller: Caller, attempt: Attempt): boolean {
    if (!caller.restricted) return true
    const funs = typeof attempt.fun === 'string' ? [attempt.fun] : attempt.fun
    return funs
      .flatMap((fun) => fun.split(','))
      .every((fun) => this.#allowed(caller.user, fun, attempt.minions))
  }

  #allowed(user: string, fun: string, minions: readonly string[]): boolean {
    if (fun === 'saltutil.find_job') return true
    const modules = listOf(this.#config.publisher_acl_blacklist.modules)
    if (modules.some((pattern) => matchesWhole(pattern, fun))) return false
    return this.#entriesOf(user).some((entry) => {
      if (typeof entry === 'string') return matchesWhole(entry, fun)
      if (!isRecord(entry)) return false
      return Object.entries(entry).some(
        ([tgt, funs]) =>
          minions.length > 0 &&
          listOf(funs).some((pattern) => matchesWhole(pattern, fun)) &&
          minions.every((id) => this.#matcher.match({ tgt, tgt_type: 'compound' }, { id }) === true),
      )
    })
  }

  #entriesOf(user: string): unknown[] {
    return Object.entries(this.#config.publisher_acl)
      .filter(([pattern]) => pattern === user || fnmatch(user, pattern))
      .flatMap(([, entries]) => (Array.isArray(entries) ? entries : []))
  }
}

const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
