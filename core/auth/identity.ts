import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { groupsOf, type RootKeys } from '../keys/index.ts'
import type { Access } from './access.ts'
import type { Backends } from './backends.ts'
import type { Caller } from './contract.ts'
import type { EvenDelay } from './even-delay.ts'
import { localName } from './members.ts'
import type { Tokens } from './tokens/tokens.ts'

type Load = Readonly<Record<string, unknown>>

/** What a request has to show: the first of these that is there counts, and no other. */
export type Proof =
  | { readonly by: 'token'; readonly token: unknown }
  | { readonly by: 'eauth'; readonly eauth: unknown; readonly credentials: Load }
  | { readonly by: 'key'; readonly user: string; readonly key: string }

/** `refused` is for the log. `later`: it could not be found out, and may be some other time. */
export type Identified =
  | { readonly caller: Caller }
  | { readonly refused: string; readonly claimed: string; readonly later?: boolean }

export interface IdentitySettings {
  readonly config: MasterConfig
  readonly rootKeys: RootKeys
  readonly access: Access
  readonly backends: Backends
  readonly tokens: Tokens
  readonly delay: EvenDelay
  readonly log: Log
}

/** Who somebody is (wire protocol §8.1, §14.4, §14.5). Never rejects. */
export class Identity {
  readonly #settings: IdentitySettings

  constructor(settings: IdentitySettings) {
    this.#settings = settings
  }

  async of(proof: Proof): Promise<Identified> {
    if (proof.by === 'token') return this.#byToken(proof.token)
    if (proof.by === 'eauth') return this.byCredentials(proof.eauth, proof.credentials)
    return this.#byKey(proof.user, proof.key)
  }

  /** Members of a request that are for the backend and nobody else. */
  async credentialsOf(proof: Proof): Promise<readonly string[]> {
    const isForBackend = proof.by === 'eauth' && typeof proof.eauth === 'string'
    return isForBackend ? this.#settings.backends.credentialsOf(proof.eauth as string) : []
  }

  async byCredentials(eauth: unknown, credentials: Load): Promise<Identified> {
    const { backends, delay } = this.#settings
    const since = performance.now()
    const claimed = typeof credentials.username === 'string' ? credentials.username.slice(0, 256) : ''
    const outcome = typeof eauth === 'string' ? await backends.authenticate(eauth, credentials) : undefined
    if (outcome && 'known' in outcome) {
      const { name, groups = [], permissions } = outcome.known
      return {
        caller: { name, by: 'eauth', eauth: eauth as string, groups, ...(permissions && { permissions }) },
      }
    }
    if (outcome && 'unknowable' in outcome) return { refused: outcome.unknowable, claimed, later: true }
    await delay.refuse(since)
    return { refused: outcome?.refused ?? 'the name of a backend is no text', claimed }
  }

  async #byToken(token: unknown): Promise<Identified> {
    try {
      const record = typeof token === 'string' ? await this.#settings.tokens.find(token) : undefined
      if (!record) return { refused: 'the token is not known, or no longer', claimed: '' }
      const { name, eauth, groups, permissions } = record
      return { caller: { name, by: 'token', eauth, groups, ...(permissions && { permissions }) } }
    } catch (error) {
      this.#settings.log.error(messageOf(error))
      return { refused: 'tokens cannot be looked up', claimed: '', later: true }
    }
  }

  /** The key of the master's user lets anybody act; a user's own lets them act within `publisher_acl`. */
  async #byKey(user: string, key: string): Promise<Identified> {
    const { config, rootKeys } = this.#settings
    const no = (refused: string): Identified => ({ refused, claimed: user.slice(0, 256) })
    if (user === '') return no('no user is named')
    const isSudo = user.startsWith('sudo_')
    if (key && (await rootKeys.matches(config.user, key))) {
      const restricted = isSudo && config.sudo_acl && Object.keys(config.publisher_acl).length > 0
      if (!restricted) return { caller: { name: user, by: 'key', groups: [], unrestricted: true } }
      return (await this.#listed(user)) ?? no('sudo_acl is on, and publisher_acl does not mean this user')
    }
    if (isSudo || user === 'root' || user === config.user) return no("it takes the key of the master's user")
    if (!key || !(await rootKeys.matches(user, key))) return no('the key is not that of this user')
    return (await this.#listed(user)) ?? no('publisher_acl does not mean this user')
  }

  async #listed(user: string): Promise<Identified | undefined> {
    const { access, config } = this.#settings
    const hasGroups = Object.keys(config.publisher_acl).some((key) => key.endsWith('%'))
    const groups = hasGroups ? await groupsOf(localName(user)) : []
    const caller: Caller = { name: user, by: 'key', groups }
    return access.rightsOf(caller).rules.length > 0 ? { caller } : undefined
  }
}

/** What proves who it is, in the load of a `runner` or `wheel`, or in the extras of a `publish`. */
export function proofIn(
  proving: Load,
  { user, key }: { readonly user: string; readonly key: string },
): Proof {
  if ('token' in proving) return { by: 'token', token: proving.token }
  if ('eauth' in proving) return { by: 'eauth', eauth: proving.eauth, credentials: proving }
  return { by: 'key', user, key }
}
