import { backoff } from '../../base/backoff.ts'
import { shortList } from '../../base/sentence.ts'
import { type EventMessage, type EventMessages, streamEnded } from './event-stream.ts'
import { HttpError } from './http-error.ts'
import { type HttpJob, type HttpResult, type HttpReturn, resultIn } from './http-job.ts'

export interface FollowHttpSettings {
  /** The job, just published. */
  readonly job: HttpJob
  /** Events of the job, from before it was published. */
  readonly events: EventMessages
  /** Open the events again. */
  open(signal: AbortSignal): Promise<EventMessages>
  /** Return what minions have returned, by id, from the job cache. */
  stored(): Promise<Readonly<Record<string, HttpReturn>>>
  /** Ends the waiting. */
  readonly signal: AbortSignal
}

/** How long salt-api may be away before the job is given up. */
const MAX_FAILING_MS = 60_000
/** Pauses before another stream is opened. */
const RETRY = { minMs: 200, maxMs: 5000 }
/**
 * How long another stream is read before the job cache is looked at again, at first and at most: a server that has started later than the
 * job does not know whose it is, and sends none of its events.
 */
const LOOK_AGAIN = { minMs: 5000, maxMs: 60_000 }
/**
 * How often the job cache is looked at while the first stream lasts: the network may have lost the connection without a word, or the
 * server may have forgotten whose the job is, since thousands have begun after it. Rarely, since the master keeps what each look finds.
 */
const LOOK_MEANWHILE_MS = 600_000
/** Answers of a server that may answer otherwise soon: too many requests, or no master. */
const TEMPORARY = [429, 502, 503, 504]
const MAX_NAMED = 10
const SILENT = new HttpError('UNREACHABLE', 'salt-api does not answer.')

/**
 * Yield the results of a job as they come. When the stream ends, or the server has missed events, another one is opened, and what was
 * missed is read from the job cache. Rejects with STREAM_ENDED if that is not possible.
 */
export const followHttpJob = (settings: FollowHttpSettings): AsyncGenerator<HttpResult> =>
  new HttpJobFollower(settings).follow()

class HttpJobFollower {
  readonly #settings: FollowHttpSettings
  readonly #awaited: Set<string>
  readonly #pauses = backoff(RETRY)
  #lookAgainMs = LOOK_AGAIN.minMs
  /** When a stream ended, in milliseconds since 1970, until what was missed has been read. */
  #failingSince: number | undefined
  /** Why the last stream ended. */
  #why = ''

  constructor(settings: FollowHttpSettings) {
    this.#settings = settings
    this.#awaited = new Set(settings.job.minions)
  }

  async *follow(): AsyncGenerator<HttpResult> {
    yield* this.#untilBroken(this.#readFirst())
    while (this.#awaited.size > 0) yield* this.#untilBroken(this.#readAnew())
  }

  /** Yield results until there are no more, or the stream has broken. Rejects with what will not pass. */
  async *#untilBroken(results: AsyncGenerator<HttpResult>): AsyncGenerator<HttpResult> {
    const { signal } = this.#settings
    try {
      yield* results
    } catch (error) {
      signal.throwIfAborted()
      if (!this.#mayPass(error)) throw this.#lost(error)
      await pause(this.#pauses.next(), signal)
    }
  }

  /** Yield results from the stream that was open before the job was published, and from time to time those of the job cache. */
  async *#readFirst(): AsyncGenerator<HttpResult> {
    const events = withPauses(this.#settings.events, LOOK_MEANWHILE_MS)
    for await (const message of events) {
      if (message === PAUSE) yield* this.#storedMeanwhile()
      else yield* this.#resultIn(message)
      if (this.#awaited.size === 0) return
    }
  }

  /** Yield the results of the job cache, if it can be read. */
  async *#storedMeanwhile(): AsyncGenerator<HttpResult> {
    try {
      yield* this.#stored()
    } catch {
      this.#settings.signal.throwIfAborted()
    }
  }

  /** Yield results from a stream until all minions have returned. Rejects with STREAM_ENDED also if the server has missed events. */
  async *#read(events: EventMessages): AsyncGenerator<HttpResult> {
    for await (const message of events) {
      yield* this.#resultIn(message)
      if (this.#awaited.size === 0) return
    }
  }

  /** Open another stream, yield what was missed before it, and then its results, until it is time to look again. */
  async *#readAnew(): AsyncGenerator<HttpResult> {
    const { open, signal } = this.#settings
    const reading = new AbortController()
    const timer = setTimeout(() => reading.abort(SILENT), this.#lookAgainMs)
    try {
      const events = await open(AbortSignal.any([signal, reading.signal]))
      yield* this.#stored()
      this.#failingSince = undefined
      if (this.#awaited.size === 0) return
      yield* this.#read(events)
    } catch (error) {
      if (error !== SILENT || this.#failingSince !== undefined) throw error
      this.#lookAgainMs = Math.min(2 * this.#lookAgainMs, LOOK_AGAIN.maxMs)
      this.#pauses.reset()
    } finally {
      clearTimeout(timer)
      reading.abort()
    }
  }

  /** Yield the result in an event; one that was too large for its event (`max_event_size`) is read from the job cache. */
  async *#resultIn(message: EventMessage): AsyncGenerator<HttpResult> {
    if ('notice' in message) throw streamEnded(message.notice)
    const { tag, data } = message
    const { jid } = this.#settings.job
    const [, , of, , id = ''] = tag.split('/')
    if (of !== jid || !this.#awaited.has(id)) return
    if (isTrimmed(data.return)) yield* this.#stored()
    if (this.#awaited.delete(id)) yield resultIn(jid, id, data)
  }

  async *#stored(): AsyncGenerator<HttpResult> {
    for (const [id, given] of Object.entries(await this.#settings.stored()))
      if (this.#awaited.delete(id)) yield resultIn(this.#settings.job.jid, id, given)
  }

  /** Whether another stream may help: this one has ended, or salt-api is away, but not for too long. */
  #mayPass(error: unknown): boolean {
    if (!(error instanceof HttpError)) return false
    if (error.code === 'STREAM_ENDED') this.#why = error.message
    const isAway = error.code !== 'REFUSED' || TEMPORARY.includes(error.status ?? 0)
    this.#failingSince ??= Date.now()
    return isAway && Date.now() - this.#failingSince < MAX_FAILING_MS
  }

  #lost(cause: unknown): HttpError {
    const { jid } = this.#settings.job
    const missing = [...this.#awaited]
    const { message, status } = cause as Partial<HttpError>
    const sentence =
      `Job ${jid} was published, but can no longer be followed: no return is known of ${shortList(missing, MAX_NAMED)}.` +
      `${this.#why && ` ${this.#why}`} ${message} Look it up later by its id.`
    return new HttpError('STREAM_ENDED', sentence, {
      jid,
      missing,
      cause,
      ...(status !== undefined && { status }),
    })
  }
}

const PAUSE = Symbol('pause')

/** Yield what comes, and PAUSE every `ms` milliseconds. Nobody waits for the items to end: what is not read any more is aborted. */
async function* withPauses<T>(items: AsyncGenerator<T>, ms: number): AsyncGenerator<T | typeof PAUSE> {
  let wake = (_: typeof PAUSE) => {}
  const timer = setInterval(() => wake(PAUSE), ms)
  try {
    let next = items.next()
    for (;;) {
      const first = await Promise.race([next, new Promise<typeof PAUSE>((resolve) => (wake = resolve))])
      if (first === PAUSE) yield PAUSE
      else if (first.done) return
      else {
        yield first.value
        next = items.next()
      }
    }
  } finally {
    clearInterval(timer)
    items.return(undefined).catch(() => undefined)
  }
}

/** Whether a value was too large for its event (`max_event_size`). */
const isTrimmed = (value: unknown): boolean => JSON.stringify(value ?? null).includes('"VALUE_TRIMMED"')

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}
