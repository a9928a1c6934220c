import { createHash } from 'node:crypto'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { sameClient } from '../base/same-client.ts'
import type { MasterConfig } from '../config/index.ts'
import { groupsOf, type RootKeys } from '../keys/index.ts'
import type { ClaimedVia } from '../wire/via.ts'
import type { Access } from './access.ts'
import type { Backends } from './backends.ts'
import type { Caller } from './contract.ts'
import type { EvenDelay } from './even-delay.ts'
import { localName } from './members.ts'
import type { Outcome } from './sign-in/attempts.ts'
import type { Claim } from './sign-in/claim.ts'
import type { Locked, SignIns } from './sign-in/limit.ts'
import type { Tokens } from './tokens/tokens.ts'

type Load = Readonly<Record<string, unknown>>

/** What a request has to show: the first of these that is there counts, and no other. */
export type Proof =
  | { readonly by: 'token'; readonly token: unknown }
  | { readonly by: 'eauth'; readonly eauth: unknown; readonly credentials: Load }
  | { readonly by: 'key'; readonly user: string; readonly key: string }

/** Why nobody looked at it now: a sentence for who asks, and after how many seconds it is worth another try, if that is known. */
export interface Later {
  readonly sentence: string
  readonly retryAfter?: number
}

/** `refused` is for the log. `later`: it was not found out, and may be some other time. */
export type Identified =
  | { readonly caller: Caller }
  | { readonly refused: string; readonly claimed: string; readonly later?: Later }

const UNKNOWABLE: Later = {
  sentence:
    'It cannot be found out for the moment who you are; try again later. The log of the master says why.',
}

/** Members that only masters of salt-ts answer with: `reason`, and `retry_after` in seconds. */
export const laterReply = ({ sentence, retryAfter }: Later) => ({
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
  readonly signIns: SignIns
  readonly log: Log
}

/** Who somebody is (wire protocol §8.1, §14.4, §14.5). Never rejects. */
export class Identity {
  readonly #settings: IdentitySettings

  constructor(settings: IdentitySettings) {
    this.#settings = settings
  }

  /** `via`: for whom somebody has passed it on. */
  async of(proof: Proof, via?: ClaimedVia): Promise<Identified> {
    if (proof.by === 'token') return this.#byToken(proof.token)
    if (proof.by === 'eauth') return this.byCredentials(proof.eauth, proof.credentials, via)
    return this.#byKey(proof.user, proof.key)
  }

  /** Members of a request that are for the backend and nobody else. */
  async credentialsOf(proof: Proof): Promise<readonly string[]> {
    const isForBackend = proof.by === 'eauth' && typeof proof.eauth === 'string'
    return isForBackend ? this.#settings.backends.credentialsOf(proof.eauth as string) : []
  }

  async byCredentials(eauth: unknown, credentials: Load, via?: ClaimedVia): Promise<Identified> {
    const { signIns } = this.#settings
    const claimed = typeof credentials.username === 'string' ? credentials.username.slice(0, 256) : ''
    const claim = await this.#claimOf(eauth, credentials)
    try {
      const attempt = await signIns.begin(claim, await this.#placeOf(via))
      if ('locked' in attempt) return { ...lockedOut(attempt.locked), claimed }
      const { identified, outcome } = await this.#authenticate(eauth, credentials, claimed)
      attempt.end(outcome)
      return identified
    } catch (error) {
      return { refused: `attempts cannot be counted: ${messageOf(error)}`, claimed, later: UNKNOWABLE }
    }
  }

  async #authenticate(
    eauth: unknown,
    credentials: Load,
    claimed: string,
  ): Promise<{ readonly identified: Identified; readonly outcome: Outcome }> {
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
      return { identified: { refused: answer.unknowable, claimed, later: UNKNOWABLE }, outcome: 'unknown' }
    await delay.refuse(since)
    const refused = answer?.refused ?? 'the name of a backend is no text'
    return { identified: { refused, claimed }, outcome: 'failed' }
  }

  /** Only what the backend looks at makes one guess another one. */
  async #claimOf(eauth: unknown, credentials: Load): Promise<Claim> {
    const own = typeof eauth === 'string' ? await this.#settings.backends.credentialsOf(eauth) : []
    const names = [...new Set(['username', 'password', ...own])].sort()
    const secret = JSON.stringify([String(eauth), ...names.map((name) => [name, String(credentials[name])])])
    const { username } = credentials
    return {
      digest: createHash('sha256').update(secret).digest('base64'),
      ...(typeof username === 'string' && username !== '' && { username: username.slice(0, 256) }),
    }
  }

  /** The address of an HTTP client, where its server has proved that it is one of ours: others would say what suits them. */
  async #placeOf(via: ClaimedVia | undefined): Promise<string | undefined> {
    const { claimed_address: address, api, proof } = via ?? {}
    if (address === undefined) return undefined
    const { config, rootKeys } = this.#settings
    const isProved = api !== undefined || (proof && (await rootKeys.vouches(config.user, address, proof)))
    return isProved ? sameClient(address) : undefined
  }

  async #byToken(token: unknown): Promise<Identified> {
    try {
      const record = typeof token === 'string' ? await this.#settings.tokens.find(token) : undefined
      if (!record) return { refused: 'the token is not known, or no longer', claimed: '' }
      const { name, eauth, groups, permissions } = record
      return { caller: { name, by: 'token', eauth, groups, ...(permissions && { permissions }) } }
    } catch (error) {
      this.#settings.log.error(messageOf(error))
      return { refused: 'tokens cannot be looked up', claimed: '', later: UNKNOWABLE }
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

function lockedOut({ who, seconds }: Locked): { readonly refused: string; readonly later: Later } {
  const sentence = `There were too many wrong passwords ${who}. Try again in ${seconds} s.`
  return {
    refused: `too many wrong passwords ${who} (login_attempts)`,
    later: { sentence, retryAfter: seconds },
  }
}
