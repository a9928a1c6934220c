import type { Credentials } from '../../author/auth.ts'
import type { Log } from '../../author/context.ts'
import { type Deferred, deferred } from '../../base/deferred.ts'
import type { MasterConfig } from '../../config/index.ts'
import { writeRelayedLine } from '../../log/relay.ts'
import { Child } from '../../process/child.ts'
import { processEntry } from '../../process/process-entry.ts'
import type { Authentication, OpenBackend } from './contract.ts'
import type { BackendAnswer, BackendRequest, FromBackend, ToBackend } from './messages.ts'

export interface BackendChildSettings {
  readonly config: MasterConfig
  readonly log: Log
  /** Time without requests after which the process is ended. Milliseconds. */
  readonly idleMs?: number
  /** Time without a sign of life after which the process is killed. Milliseconds. */
  readonly silenceMs?: number
}

const IDLE_MS = 60_000
/** Less than a log-in may take, so that its client still receives an answer. */
const SILENCE_MS = 10_000
/** Number of pings within that time. */
const PINGS = 10
/** Time that a backend has to close what it uses. */
const STOP_MS = 1_000

/** A backend in a process of its own, which is started with the next request whenever there is none. */
export class BackendChild implements OpenBackend {
  readonly #name: string
  readonly #settings: BackendChildSettings
  readonly #pending = new Map<number, Deferred<unknown>>()
  #child: Child<ToBackend, FromBackend> | undefined
  #lastNumber = 0
  #idle: NodeJS.Timeout | undefined
  #credentials: readonly string[] | undefined

  constructor(name: string, settings: BackendChildSettings) {
    this.#name = name
    this.#settings = settings
  }

  async credentials(): Promise<readonly string[]> {
    this.#credentials ??= await this.#ask({ ask: 'credentials' })
    return this.#credentials
  }

  authenticate(given: Credentials): Promise<Authentication> {
    return this.#ask({ ask: 'authenticate', given })
  }

  check(): Promise<readonly string[]> {
    return this.#ask({ ask: 'check' })
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const child = this.#child
    this.#child = undefined
    await child?.stop({ type: 'stop' }, STOP_MS)
  }

  async #ask<Request extends BackendRequest>(request: Request): Promise<BackendAnswer<Request['ask']>> {
    clearTimeout(this.#idle)
    this.#child ??= this.#start()
    const number = ++this.#lastNumber
    const answer = deferred<unknown>()
    this.#pending.set(number, answer)
    this.#child.send({ type: 'request', number, request })
    try {
      return (await answer.promise) as BackendAnswer<Request['ask']>
    } finally {
      this.#pending.delete(number)
      if (this.#pending.size === 0) this.#endWhenIdle()
    }
  }

  #endWhenIdle(): void {
    this.#idle = setTimeout(() => void this.close(), this.#settings.idleMs ?? IDLE_MS)
    this.#idle.unref()
  }

  #start(): Child<ToBackend, FromBackend> {
    const { config, log, silenceMs = SILENCE_MS } = this.#settings
    let reason: string | undefined
    const onMessage = (message: FromBackend) => {
      if (message.type === 'log') writeRelayedLine(log, message.line, 'auth')
      else if (message.type === 'crashed') reason = message.reason
      else if (message.type === 'answer') this.#pending.get(message.number)?.resolve(message.answer)
      else this.#pending.get(message.number)?.reject(new Error(message.reason))
    }
    const onEnd = async () => {
      if (this.#child !== child) return // it was stopped
      this.#child = undefined
      const waiting = [...this.#pending.values()]
      reason ??= `its process ${await child.howItEnded()}`
      log.error(`The backend ${this.#name} of external_auth is started again for the next log-in: ${reason}`)
      for (const answer of waiting) answer.reject(new Error(reason.split('\n', 1)[0]))
    }
    const child: Child<ToBackend, FromBackend> = new Child({
      entry: processEntry('auth/backends/backend-process'),
      stderr: 'filter',
      onNative: (text) => log.debug('The backend {name} ended with: {text}', { name: this.#name, text }),
      onMessage,
      onEnd,
    })
    child.send({ type: 'start', name: this.#name, config })
    child.watch({
      everyMs: silenceMs / PINGS,
      hangs: (unanswered) => unanswered >= PINGS,
      onHang: () => {
        reason = `its process did not respond for ${silenceMs / 1000} s, as in an endless loop`
        child.kill('SIGKILL')
      },
    })
    return child
  }
}
