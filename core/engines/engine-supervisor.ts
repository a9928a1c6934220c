import type { Log } from '../author/context.ts'
import { backoff } from '../base/backoff.ts'
import { onceInAWhile } from '../base/once-in-a-while.ts'
import { writeRelayedLine } from '../log/relay.ts'
import { Child } from '../process/child.ts'
import { processEntry } from '../process/process-entry.ts'
import type { EngineStart, FromEngine, ToEngine } from './messages.ts'

/** Wait between two starts of an engine that ends. */
const RESTART = { minMs: 1_000, maxMs: 60_000 }
/** An engine that ran for this time is restarted after the minimum wait. */
const STEADY_MS = 60_000
/** Minimum time between two log entries that an engine has ended for the same reason. */
const REPEAT_REPORT_MS = 600_000
/** Time that an engine has to end before it is killed. */
const STOP_MS = 2_000

/** Keeps one engine running in a separate process until it is stopped. */
export class EngineSupervisor {
  readonly #name: string
  readonly #start: () => EngineStart
  readonly #log: Log
  readonly #delays = backoff(RESTART)
  readonly #reportEnd: ReturnType<typeof onceInAWhile>
  #child: Child<ToEngine, FromEngine> | undefined
  #restartTimer: NodeJS.Timeout | undefined
  #stopping = false

  constructor(name: string, start: () => EngineStart, log: Log) {
    this.#name = name
    this.#start = start
    this.#log = log
    this.#reportEnd = onceInAWhile(
      (sentence, unreported) =>
        log.error(
          unreported === 0 ? sentence : `${sentence} (${unreported} more times since it was last logged)`,
        ),
      REPEAT_REPORT_MS,
    )
    this.#run()
  }

  /** Ask the engine to end, and kill it if it does not. Resolves when its process has ended. */
  async stop(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#restartTimer)
    await this.#child?.stop({ type: 'stop' }, STOP_MS)
  }

  #run(): void {
    this.#log.info(`Starting Engine(${this.#name})`)
    const since = performance.now()
    let reason: string | undefined
    let isRefused = false
    const onMessage = (message: FromEngine) => {
      if (message.type === 'log') return writeRelayedLine(this.#log, message.line, 'engines')
      reason = message.reason
      isRefused = message.type === 'refused'
    }
    const onEnd = async () => {
      this.#child = undefined
      const how = await child.howItEnded()
      if (this.#stopping) return
      if (isRefused) this.#log.error(`Engine(${this.#name}) is not started: ${reason}`)
      else this.#restartLater(reason ?? `its process ${how}`, performance.now() - since)
    }
    const child = new Child<ToEngine, FromEngine>({
      entry: processEntry('engines/engine-process'),
      stderr: 'filter',
      onNative: (text) => this.#log.debug('Engine({name}) ended with: {text}', { name: this.#name, text }),
      onMessage,
      onEnd,
    })
    this.#child = child
    child.send(this.#start())
  }

  #restartLater(reason: string, ranMs: number): void {
    if (ranMs >= STEADY_MS) this.#delays.reset()
    const ms = this.#delays.next()
    const seconds = (ms / 1000).toFixed(1)
    this.#reportEnd(
      `Engine(${this.#name}) has ended and will be restarted in ${seconds} seconds: ${reason}`,
      reason,
    )
    this.#restartTimer = setTimeout(() => this.#run(), ms)
  }
}
