import { setMaxListeners } from 'node:events'
import type { FastifyRequest } from 'fastify'
import { fnmatch } from '../../dialect/fnmatch.ts'
import type { ApiContext } from '../context.ts'
import { httpError } from '../http-errors.ts'
import { type EventFilter, EventHub } from './event-hub.ts'
import { markAuthenticated } from './login-guard.ts'
import { type TokenOwner, TokenWatch } from './tokens.ts'

const STOPPING = 'The server is stopping.'
const MAX_STALL_MS = 60_000
/** Limits for the patterns in `tag=`. */
const MAX_PATTERNS = 20
const MAX_PATTERN_LENGTH = 256

/** A client that may read events. */
export interface Admitted {
  readonly token: string
  readonly owner: TokenOwner
  readonly filter: EventFilter
}

/** The readers of events: admitted by their tokens, limited in number, closed when the server stops. */
export class Readers {
  readonly hub: EventHub
  readonly tokens: TokenWatch
  readonly #context: ApiContext
  readonly #closing = new AbortController()
  readonly #end: AbortSignal
  #connected = 0

  constructor(context: ApiContext) {
    const { settings, link, log } = context
    this.#context = context
    this.#end = AbortSignal.any([context.stopping, this.#closing.signal])
    setMaxListeners(0, this.#end)
    this.tokens = new TokenWatch(link)
    this.hub = new EventHub(
      link.events,
      { events: settings.events, maxBacklog: settings.max_reader_backlog, maxStallMs: MAX_STALL_MS },
      log,
    )
  }

  /**
   * Admit a reader.
   * @throws SaltError with status 401, 400 or 503
   */
  async admit(token: string | undefined, request: FastifyRequest): Promise<Admitted> {
    const owner = await this.tokens.require(token)
    markAuthenticated(request)
    if (this.#end.aborted) throw httpError(503, STOPPING)
    const { max_readers } = this.#context.settings
    if (this.#connected >= max_readers)
      throw httpError(503, `${max_readers} readers of events are connected, the maximum (max_readers).`)
    return { token: token as string, owner, filter: { owner: owner.id, ...tagFilter(request) } }
  }

  /**
   * Count a reader as connected until the returned function is called. `end` is called at most once, with a sentence:
   * the token is not valid any more, or the server stops.
   */
  register({ token, owner }: Admitted, end: (why: string, stopping: boolean) => void): () => void {
    const onStop = () => finish(() => end(STOPPING, true))
    const unwatch = this.tokens.watch(token, owner, () =>
      finish(() => end('The token has expired or was revoked.', false)),
    )
    this.#end.addEventListener('abort', onStop)
    let counted = true
    this.#connected++
    const release = () => {
      if (counted) this.#connected--
      counted = false
      this.#end.removeEventListener('abort', onStop)
      unwatch()
    }
    const finish = (notify: () => void) => {
      release()
      notify()
    }
    return release
  }

  /** Log that a reader was dropped. */
  noteDropped(request: FastifyRequest, { owner }: Admitted, reason: string): void {
    this.#context.log.warn(`Dropped a reader of events, ${owner.name} at ${request.ip}: ${reason}`)
  }

  /** Close all readers. */
  close(): void {
    this.#closing.abort()
    this.hub.close()
    this.tokens.close()
  }
}

/**
 * Return the filter of the query's `tag=`, which may be given several times: shell patterns of which one must match.
 */
function tagFilter({ query }: FastifyRequest): { tag?: (tag: string) => boolean } {
  const { tag } = query as Record<string, unknown>
  if (tag === undefined) return {}
  const patterns = [tag].flat().map(String)
  if (patterns.length > MAX_PATTERNS || patterns.some((pattern) => pattern.length > MAX_PATTERN_LENGTH))
    throw httpError(
      400,
      `At most ${MAX_PATTERNS} patterns of ${MAX_PATTERN_LENGTH} characters can be given as 'tag'.`,
    )
  return { tag: (name) => patterns.some((pattern) => fnmatch(name, pattern)) }
}
