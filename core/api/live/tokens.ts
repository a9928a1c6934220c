import type { FastifyRequest } from 'fastify'
import { ownerOf } from '../../auth/index.ts'
import { SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { type Repetition, repeat } from '../../base/repeat.ts'
import { MAX_TIMER_MS } from '../../base/with-timeout.ts'
import type { MasterLink } from '../../client/local/master-link.ts'
import type { ApiContext } from '../context.ts'
import { denial } from '../denials.ts'
import { optionalToken } from '../identity.ts'

/** The user of a token. */
export interface TokenOwner {
  readonly name: string
  /** The user in the form in which jobs name their owner. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

interface Watched {
  readonly onEnd: Set<() => void>
  timer: NodeJS.Timeout | undefined
}

const REQUEST_TIMEOUT_MS = 10_000
/** How often the tokens of open connections are checked again for revocation. */
const RECHECK_INTERVAL_MS = 15_000

/** Asks the master about tokens, and watches those of open connections. */
export class TokenWatch {
  readonly #link: MasterLink
  readonly #watched = new Map<string, Watched>()
  readonly #checks: Repetition

  constructor(link: MasterLink, checkMs: number = RECHECK_INTERVAL_MS) {
    this.#link = link
    // Requests to a master that is down take longer than the interval, and nothing here rejects.
    this.#checks = repeat(
      () => this.#recheck(),
      checkMs,
      () => {},
    )
  }

  /**
   * Return the user of a token, undefined if it is unknown or expired.
   * @throws SaltError MASTER_UNREACHABLE
   */
  async ownerOf(token: string): Promise<TokenOwner | undefined> {
    if (!isTokenLike(token)) return undefined
    const known = await this.#link.ask({ cmd: 'get_token', token }, REQUEST_TIMEOUT_MS)
    if (isRecord(known) && isRecord(known.error)) throw notLookedUp(String(known.error.message))
    if (!isRecord(known) || typeof known.name !== 'string') return undefined
    const { name, eauth } = known
    const expires = Number(known.expire) * 1000
    return expires > Date.now()
      ? { name, id: ownerOf({ name, by: 'token', eauth: String(eauth) }), expires }
      : undefined
  }

  /**
   * Return the user of a token.
   * @throws SaltError AUTHENTICATION_FAILED, MASTER_UNREACHABLE
   */
  async require(token: string | undefined): Promise<TokenOwner> {
    const owner = token === undefined ? undefined : await this.ownerOf(token)
    if (owner) return owner
    throw denial(
      'AUTHENTICATION_FAILED',
      'There is no token, or it is unknown or has expired. Sign in at /login.',
    )
  }

  /** Call `onEnd` when the token has expired or was revoked, unless the returned function was called before. */
  watch(token: string, { expires }: TokenOwner, onEnd: () => void): () => void {
    const watched = this.#watched.get(token) ?? { onEnd: new Set(), timer: undefined }
    this.#watched.set(token, watched)
    watched.onEnd.add(onEnd)
    watched.timer ??= this.#endAt(token, expires)
    return () => {
      watched.onEnd.delete(onEnd)
      if (watched.onEnd.size === 0) this.#forget(token)
    }
  }

  /** Close the connections that use a revoked token. */
  revoke(token: string): void {
    const { onEnd } = this.#watched.get(token) ?? {}
    this.#forget(token)
    for (const end of onEnd ?? []) end()
  }

  close(): void {
    void this.#checks.close()
    for (const token of [...this.#watched.keys()]) this.#forget(token)
  }

  #endAt(token: string, expires: number): NodeJS.Timeout {
    const left = Math.max(0, expires - Date.now())
    return setTimeout(() => this.revoke(token), Math.min(left, MAX_TIMER_MS)).unref()
  }

  #forget(token: string): void {
    clearTimeout(this.#watched.get(token)?.timer)
    this.#watched.delete(token)
  }

  /** Check the tokens of open connections. A master that does not answer revokes nothing. */
  async #recheck(): Promise<void> {
    for (const token of [...this.#watched.keys()]) {
      const owner = await this.ownerOf(token).catch(() => 'unknown')
      if (!owner) this.revoke(token)
    }
  }
}

/** The master does not know whether the token is valid, as while its store of tokens is away. */
const notLookedUp = (reason: string): SaltError => new SaltError('MASTER_UNREACHABLE', reason, { reason })

/** Whether a text can be a token: only those are sent to the master. */
const isTokenLike = (token: string): boolean => /^[0-9a-f]{8,256}$/i.test(token)

/**
 * Return the token of a request for events, in Salt's order: from the query (browsers' EventSource sends no headers),
 * from a header, from the cookie.
 */
export function tokenOfReader(request: FastifyRequest, context: ApiContext): string | undefined {
  const { token, salt_token } = request.query as Record<string, unknown>
  const given = [token, salt_token].find((each) => typeof each === 'string' && each !== '')
  return typeof given === 'string' ? given : optionalToken(request, context)
}
