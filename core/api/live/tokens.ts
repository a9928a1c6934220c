import type { FastifyRequest } from 'fastify'
import { ownerOf } from '../../auth/index.ts'
import type { MasterLink } from '../../client/master-link.ts'
import { isRecord } from '../../wire/bytes.ts'
import { denial } from '../denials.ts'
import { tokenIfAny } from '../identity.ts'
import type { ApiRoom } from '../room.ts'

/** Who a token stands for. */
export interface TokenOwner {
  readonly name: string
  /** As jobs name their owner. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

interface Watched {
  readonly onEnd: Set<() => void>
  timer: NodeJS.Timeout | undefined
}

const ASK_MS = 10_000
/** How often the tokens of open connections are looked up again: they may have been revoked. */
const ROUND_MS = 15_000
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Tokens, as the master knows them. */
export class Tokens {
  readonly #link: MasterLink
  readonly #watched = new Map<string, Watched>()
  readonly #round: NodeJS.Timeout
  #looking = false

  constructor(link: MasterLink, roundMs: number = ROUND_MS) {
    this.#link = link
    this.#round = setInterval(() => void this.#lookAfter(), roundMs).unref()
  }

  /** Whose it is; undefined if it is none, or none any more. @throws SaltError MASTER_UNREACHABLE */
  async ownerOf(token: string): Promise<TokenOwner | undefined> {
    if (!isTokenLike(token)) return undefined
    const known = await this.#link.ask({ cmd: 'get_token', token }, ASK_MS)
    if (!isRecord(known) || typeof known.name !== 'string') return undefined
    const { name, eauth } = known
    const expires = Number(known.expire) * 1000
    return expires > Date.now()
      ? { name, id: ownerOf({ name, by: 'token', eauth: String(eauth) }), expires }
      : undefined
  }

  /** @throws SaltError with status 401, MASTER_UNREACHABLE */
  async require(token: string | undefined): Promise<TokenOwner> {
    const owner = token === undefined ? undefined : await this.ownerOf(token)
    if (owner) return owner
    throw denial(
      'AUTHENTICATION_FAILED',
      'No token was sent, or one that is not known or has expired. Sign in at /login.',
    )
  }

  /** `onEnd` is called when the token has expired or was revoked, unless what this gives was called before. */
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

  /** Whoever uses it now is cut off; it was revoked. */
  ended(token: string): void {
    const { onEnd } = this.#watched.get(token) ?? {}
    this.#forget(token)
    for (const end of onEnd ?? []) end()
  }

  close(): void {
    clearInterval(this.#round)
    for (const token of [...this.#watched.keys()]) this.#forget(token)
  }

  #endAt(token: string, expires: number): NodeJS.Timeout {
    const left = Math.max(0, expires - Date.now())
    return setTimeout(() => this.ended(token), Math.min(left, LONGEST_TIMER_MS)).unref()
  }

  #forget(token: string): void {
    clearTimeout(this.#watched.get(token)?.timer)
    this.#watched.delete(token)
  }

  /** A master that does not answer revokes nothing. */
  async #lookAfter(): Promise<void> {
    if (this.#looking) return // a master that is away takes longer than a round
    this.#looking = true
    for (const token of [...this.#watched.keys()]) {
      const owner = await this.ownerOf(token).catch(() => 'unknown')
      if (!owner) this.ended(token)
    }
    this.#looking = false
  }
}

/** Tokens are hexadecimal: nothing else is sent to the master. */
const isTokenLike = (token: string): boolean => /^[0-9a-f]{8,256}$/i.test(token)

/**
 * The token of a request for events, in Salt's order: in the query, for browsers, whose EventSource sends no headers;
 * in a header; in the cookie.
 */
export function tokenOfReader(request: FastifyRequest, room: ApiRoom): string | undefined {
  const { token, salt_token } = request.query as Record<string, unknown>
  const given = [token, salt_token].find((each) => typeof each === 'string' && each !== '')
  return typeof given === 'string' ? given : tokenIfAny(request, room)
}
