import { createHash } from 'node:crypto'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { sameClient } from '../base/net/same-client.ts'
import type { MasterConfig } from '../config/index.ts'
import { jsonText } from '../dialect/json.ts'
import { groupsOf, type RootKeys } from '../keys/index.ts'
import type { ClaimedVia } from '../wire/via.ts'
import type { Access } from './access.ts'
import type { Backends } from './backends/backends.ts'
import type { Caller } from './contract.ts'
import type { EvenDelay } from './even-delay.ts'
import type { AttemptResult } from './login/attempts.ts'
import type { Claim } from './login/claim.ts'
import type { Lockout, Logins } from './login/limit.ts'
import { localName } from './matching-entries.ts'
import type { Tokens } from './tokens/tokens.ts'

type Load = Readonly<Record<string, unknown>>

/** The proof in a request: the first of these kinds that is present counts, and no other. */
export type Proof =
  | { readonly by: 'token'; readonly token: unknown }
  | { readonly by: 'eauth'; readonly eauth: unknown; readonly credentials: Load }
  | { readonly by: 'key'; readonly user: string; readonly key: string }

/** Why a request could not be checked: a sentence for the caller, and after how many seconds to retry, if known. */
export interface RetryLater {
  readonly sentence: string
  readonly retryAfter?: number
}

/** `refused` is for the log. `later` is set if the identity could not be checked now. */
export type Identification =
  | { readonly caller: Caller }
  | { readonly refused: string; readonly claimed: string; readonly later?: RetryLater }

const UNAVAILABLE: RetryLater = {
  sentence:
    'Your identity cannot be checked at the moment. Try again later. The log of the master has the reason.',
}

/** Return the reply members that only masters of salt-ts send: `reason`, and `retry_after` in seconds. */
export const retryLaterReply = ({ sentence, retryAfter }: RetryLater) => ({
  reason: sentence,
  ...(retryAfter !== undefined && { retry_after: retryAfter }),
})

export interface IdentitySettings {
  readonly config: MasterConfig
  readonly rootKeys: RootKeys
  readonly access: Access
  readonly backends: Backends
  readonly tokens: Tokens
  readonly delay: EvenDelay
  readonly logins: Logins
  readonly log: Log
}

/** Identifies callers (wire protocol §8.1, §14.4, §14.5). Never rejects. */
export class Identity {
  readonly #settings: IdentitySettings

  constructor(settings: IdentitySettings) {
    this.#settings = settings
  }

  /** Identify a caller. `via` describes the server that passed on the request, and for whom. */
  async of(proof: Proof, via?: ClaimedVia): Promise<Identification> {
    if (proof.by === 'token') return this.#byToken(proof.token)
    if (proof.by === 'eauth') return this.byCredentials(proof.eauth, proof.credentials, via)
    return this.#byKey(proof.user, proof.key)
  }

  /** Return the members of a request that only the backend may see. */
  async credentialsOf(proof: Proof): Promise<readonly string[]> {
    const isForBackend = proof.by === 'eauth' && typeof proof.eauth === 'string'
    return isForBackend ? this.#settings.backends.credentialsOf(proof.eauth as string) : []
  }

  async byCredentials(eauth: unknown, credentials: Load, via?: ClaimedVia): Promise<Identification> {
    const { logins } = this.#settings
    const claimed = typeof credentials.username === 'string' ? credentials.username.slice(0, 256) : ''
    const claim = await this.#claimOf(eauth, credentials)
    try {
      const attempt = await logins.begin(claim, await this.#placeOf(via))
      if ('locked' in attempt) return { ...lockedOut(attempt.locked), claimed }
      const { identified, outcome } = await this.#authenticate(eauth, credentials, claimed)
      attempt.end(outcome)
      return identified
    } catch (error) {
      return { refused: `attempts cannot be counted: ${messageOf(error)}`, claimed, later: UNAVAILABLE }
    }
  }

  async #authenticate(
    eauth: unknown,
    credentials: Load,
    claimed: string,
  ): Promise<{ readonly identified: Identification; readonly outcome: AttemptResult }> {
    const { backends, delay } = this.#settings
    const since = performance.now()
    const answer = typeof eauth === 'string' ? await backends.authenticate(eauth, credentials) : undefined
    if (answer && 'known' in answer) {
      const { name, groups = [], permissions } = answer.known
      const caller: Caller = { name, by: 'eauth', eauth: eauth as string, groups }
      return {
        identified: { caller: { ...caller, ...(permissions && { permissions }) } },
        outcome: 'passed',
      }
    }
    if (answer && 'unknowable' in answer)
      return { identified: { refused: answer.unknowable, claimed, later: UNAVAILABLE }, outcome: 'unknown' }
    await delay.refuse(since)
    const refused = answer?.refused ?? 'the name of the backend is not a text'
    return { identified: { refused, claimed }, outcome: 'failed' }
  }

  /** Return the claim of a request. Its digest covers only what the backend reads: other members do not make a new guess. */
  async #claimOf(eauth: unknown, credentials: Load): Promise<Claim> {
    const own = typeof eauth === 'string' ? await this.#settings.backends.credentialsOf(eauth) : []
    const names = [...new Set(['username', 'password', ...own])].sort()
    const secret = jsonText([eauth, ...names.map((name) => [name, credentials[name]])])
    const { username } = credentials
    return {
      digest: createHash('sha256').update(secret).digest('base64'),
      ...(typeof username === 'string' && username !== '' && { username: username.slice(0, 256) }),
    }
  }

  /** Return the address of an HTTP client, if its server has proved that it belongs to this master. Others could make it up. */
  async #placeOf(via: ClaimedVia | undefined): Promise<string | undefined> {
    const { claimed_address: address, api, proof } = via ?? {}
    if (address === undefined) return undefined
    const { config, rootKeys } = this.#settings
    const isProved =
      api !== undefined || (proof && (await rootKeys.isValidProof(config.user, address, proof)))
    return isProved ? sameClient(address) : undefined
  }

  async #byToken(token: unknown): Promise<Identification> {
    try {
      const record = typeof token === 'string' ? await this.#settings.tokens.find(token) : undefined
      if (!record) return { refused: 'the token is unknown or has expired', claimed: '' }
      const { name, eauth, groups, permissions } = record
      return { caller: { name, by: 'token', eauth, groups, ...(permissions && { permissions }) } }
    } catch (error) {
      this.#settings.log.error(messageOf(error))
      return { refused: 'tokens cannot be looked up', claimed: '', later: UNAVAILABLE }
    }
  }

  /** Identify by key. The key of the master's user allows acting as anybody; a user's own key, within `publisher_acl`. */
  async #byKey(user: string, key: string): Promise<Identification> {
    const { config, rootKeys } = this.#settings
    const no = (refused: string): Identification => ({ refused, claimed: user.slice(0, 256) })
    if (user === '') return no('no user is named')
    const isSudo = user.startsWith('sudo_')
    if (key && (await rootKeys.matches(config.user, key))) {
      const restricted = isSudo && config.sudo_acl && Object.keys(config.publisher_acl).length > 0
      if (!restricted) return { caller: { name: user, by: 'key', groups: [], unrestricted: true } }
      return (await this.#listed(user)) ?? no('sudo_acl is on, and publisher_acl has no entry for this user')
    }
    if (isSudo || user === 'root' || user === config.user)
      return no("the key of the master's user is required")
    if (!key || !(await rootKeys.matches(user, key))) return no('the key does not belong to this user')
    return (await this.#listed(user)) ?? no('publisher_acl has no entry for this user')
  }

  async #listed(user: string): Promise<Identification | undefined> {
    const { access, config } = this.#settings
    const hasGroups = Object.keys(config.publisher_acl).some((key) => key.endsWith('%'))
    const groups = hasGroups ? await groupsOf(localName(user)) : []
    const caller: Caller = { name: user, by: 'key', groups }
    return access.rightsOf(caller).rules.length > 0 ? { caller } : undefined
  }
}

/** Return the proof in the load of a `runner` or `wheel`, or in the extras of a `publish`. */
export function proofIn(
  proving: Load,
  { user, key }: { readonly user: string; readonly key: string },
): Proof {
  if ('token' in proving) return { by: 'token', token: proving.token }
  if ('eauth' in proving) return { by: 'eauth', eauth: proving.eauth, credentials: proving }
  return { by: 'key', user, key }
}

function lockedOut({ who, seconds }: Lockout): { readonly refused: string; readonly later: RetryLater } {
  const sentence = `There were too many wrong passwords ${who}. Try again in ${seconds} s.`
  return {
    refused: `too many wrong passwords ${who} (login_attempts)`,
    later: { sentence, retryAfter: seconds },
  }
}
