import type { Log } from '../author/context.ts'
import { type Backoff, backoff } from '../base/backoff.ts'
import type { Outbox, TargetState } from '../jobs/outbox.ts'
import { targetFrom } from '../jobs/outbox-target.ts'
import { writeLine } from '../log/line.ts'
import type { ReturnerStart } from './messages.ts'
import { ReturnerChild } from './returner-child.ts'
import { failedState, freshState } from './target-state.ts'

export interface ReturnerProcessesSettings {
  /** Of this process; those that are started open their files themselves. */
  readonly outboxes: readonly Outbox[]
  start(): ReturnerStart
  readonly log: Log
  /** Told when a store goes away and when it is back; `name` is that of the returner. */
  onState?(name: string, state: TargetState): void
  /** Told when the returns of jobs were written, and once, with the reason, when they have to wait. */
  onTried?(name: string, jids: readonly string[], error?: string): void
}

/** What programs that only pass by add to an outbox is found by looking. Milliseconds. */
const LOOK_MS = 5_000
/** Between two starts of a process that ends by itself. */
const RESTART = { minMs: 1_000, maxMs: 60_000 }

/**
 * A process for each returner that has something to write, so that one that hangs, crashes or loops holds up its own
 * queue only. A process is started when something is there for it, and again when it ends while something is.
 */
export class ReturnerProcesses {
  readonly #settings: ReturnerProcessesSettings
  readonly #children = new Map<string, ReturnerChild>()
  readonly #resting = new Map<string, NodeJS.Timeout>()
  readonly #restarts = new Map<string, Backoff>()
  readonly #looking: NodeJS.Timeout
  #closed = false

  constructor(settings: ReturnerProcessesSettings) {
    this.#settings = settings
    this.#looking = setInterval(() => this.wake(), LOOK_MS)
    this.wake()
  }

  /** Something was added to an outbox. */
  wake(): void {
    for (const name of this.#names()) this.#child(name)?.wake()
  }

  /** Of returners with something to write. */
  #names(): Set<string> {
    const targets = this.#settings.outboxes.flatMap((outbox) => outbox.targets())
    return new Set(targets.map((target) => targetFrom(target).name))
  }

  /** Why the first of the targets that cannot be used cannot be, as a sentence; undefined if all can be, or in doubt. */
  async check(targets: readonly string[]): Promise<string | undefined> {
    const refusals = await Promise.all(targets.map((target) => this.#check(target)))
    return refusals.find((refusal) => refusal !== undefined)
  }

  async #check(target: string): Promise<string | undefined> {
    const { name } = targetFrom(target)
    const child = this.#child(name)
    const refusal = await child?.check(target)
    if (refusal !== undefined && !this.#names().has(name)) void child?.stop()
    return refusal
  }

  /** What they are started with has changed. What is being written is finished first. */
  refresh(): void {
    for (const child of this.#children.values()) void child.stop()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#looking)
    for (const timer of this.#resting.values()) clearTimeout(timer)
    await Promise.all([...this.#children.values()].map((child) => child.stop()))
  }

  #child(name: string): ReturnerChild | undefined {
    if (this.#closed || this.#resting.has(name)) return undefined
    const running = this.#children.get(name)
    if (running) return running
    const { log, onState, onTried } = this.#settings
    const child = new ReturnerChild({
      name,
      start: this.#settings.start(),
      take: (message) => {
        if (message.type === 'log') writeLine(log, message.line, `loaded.int.returner.${name}`)
        else if (message.type === 'tried') onTried?.(name, message.jids, message.error)
        else {
          if (message.state.state === 'up') this.#restarts.delete(name)
          onState?.(name, message.state)
        }
      },
      onNative: (text) => log.debug('The process of the returner {name} ended with: {text}', { name, text }),
      onGone: (reason) => void this.#gone(name, reason),
    })
    this.#children.set(name, child)
    return child
  }

  async #gone(name: string, reason: string | undefined): Promise<void> {
    this.#children.delete(name)
    if (this.#closed) return
    if (reason === undefined) return this.wake()
    const delays = this.#restarts.get(name) ?? backoff(RESTART)
    this.#restarts.set(name, delays)
    const rest = () => {
      this.#resting.delete(name)
      this.wake()
    }
    this.#resting.set(name, setTimeout(rest, delays.next()))
    this.#settings.log.error(`Returner ${name}: ${reason} Its process is started again.`)
    await this.#note(name, reason)
  }

  /** For those who ask how it stands with the returner: its own process cannot say it. */
  async #note(name: string, error: string): Promise<void> {
    for (const outbox of this.#settings.outboxes)
      for (const target of outbox.targets().filter((one) => targetFrom(one).name === name)) {
        const now = Date.now()
        const before = outbox.state(target)
        const state = failedState(before ?? freshState(now), error, now)
        await outbox.setState(target, state).catch(() => undefined) // a full disk
        if (before?.state !== 'down') this.#settings.onState?.(name, state)
      }
  }
}
