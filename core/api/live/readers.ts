import { setMaxListeners } from 'node:events'
import type { FastifyRequest } from 'fastify'
import { fnmatch } from '../../base/fnmatch.ts'
import { refusal } from '../problems.ts'
import type { ApiRoom } from '../room.ts'
import { EventHub, type Wish } from './event-hub.ts'
import { passed } from './sign-in-guard.ts'
import { type TokenOwner, Tokens } from './tokens.ts'

const STOPPING = 'The server is stopping.'
const MAX_STALL_MS = 60_000
/** Patterns in one `tag=`, and their length. */
const MAX_PATTERNS = 20
const MAX_PATTERN = 256

/** Somebody who may read events. */
export interface Admitted {
  readonly token: string
  readonly owner: TokenOwner
  readonly wish: Wish
}

/** Who reads events here: admitted by their tokens, not too many, let go when the server stops. */
export class Readers {
  readonly hub: EventHub
  readonly tokens: Tokens
  readonly #room: ApiRoom
  readonly #closing = new AbortController()
  readonly #end: AbortSignal
  #kept = 0

  constructor(room: ApiRoom) {
    const { settings, link, log } = room
    this.#room = room
    this.#end = AbortSignal.any([room.stopping, this.#closing.signal])
    setMaxListeners(0, this.#end)
    this.tokens = new Tokens(link)
    this.hub = new EventHub(
      link.events,
      { events: settings.events, maxBacklog: settings.max_reader_backlog, maxStallMs: MAX_STALL_MS },
      log,
    )
  }

  /** @throws SaltError with status 401, 400 or 503 */
  async admit(token: string | undefined, request: FastifyRequest): Promise<Admitted> {
    const owner = await this.tokens.require(token)
    passed(request)
    if (this.#end.aborted) throw refusal(503, STOPPING)
    const { max_readers } = this.#room.settings
    if (this.#kept >= max_readers)
      throw refusal(
        503,
        `${max_readers} readers of events are connected, and no more are served (max_readers).`,
      )
    return { token: token as string, owner, wish: { owner: owner.id, ...tagsWanted(request) } }
  }

  /** `end` is called at most once, with a sentence: the token is not valid any more, or the server stops. */
  keep({ token, owner }: Admitted, end: (why: string, stopping: boolean) => void): () => void {
    const onStop = () => over(() => end(STOPPING, true))
    const unwatch = this.tokens.watch(token, owner, () =>
      over(() => end('The token has expired or was revoked.', false)),
    )
    this.#end.addEventListener('abort', onStop)
    let kept = true
    this.#kept++
    const release = () => {
      if (kept) this.#kept--
      kept = false
      this.#end.removeEventListener('abort', onStop)
      unwatch()
    }
    const over = (tell: () => void) => {
      release()
      tell()
    }
    return release
  }

  /** One line for whoever looks after the server. */
  noteDropped(request: FastifyRequest, { owner }: Admitted, reason: string): void {
    this.#room.log.warn(`Dropped a reader of events, ${owner.name} at ${request.ip}: ${reason}`)
  }

  /** Lets all of them go. */
  close(): void {
    this.#closing.abort()
    this.hub.close()
    this.tokens.close()
  }
}

/** `tag=` of the query: shell patterns, of which one must match; it may be given several times. */
function tagsWanted({ query }: FastifyRequest): { tag?: (tag: string) => boolean } {
  const { tag } = query as Record<string, unknown>
  if (tag === undefined) return {}
  const patterns = [tag].flat().map(String)
  if (patterns.length > MAX_PATTERNS || patterns.some((pattern) => pattern.length > MAX_PATTERN))
    throw refusal(400, `At most ${MAX_PATTERNS} patterns of ${MAX_PATTERN} characters can be given as tag.`)
  return { tag: (name) => patterns.some((pattern) => fnmatch(name, pattern)) }
}
