import type { Log } from '../author/context.ts'
import { type Backoff, backoff } from '../base/backoff.ts'
import { writeRelayedLine } from '../log/relay.ts'
import type { ReturnerStart } from './messages.ts'
import type { Outbox, TargetState } from './outbox.ts'
import { targetFrom } from './outbox-target.ts'
import { ReturnerChild } from './returner-child.ts'
import { failedState, freshState } from './target-state.ts'

export interface ReturnerProcessesSettings {
  /** Outboxes of this process. Returner processes open the files themselves. */
  readonly outboxes: readonly Outbox[]
  start(): ReturnerStart
  readonly log: Log
  /** Names of targets that another program serves. */
  readonly served?: readonly string[]
  /** Called when a store becomes unavailable and when it is available again. `name` is the returner's. */
  onState?(name: string, state: TargetState): void
  /** Called when the returns of jobs were written; also once with the error if they have to wait. */
  onTried?(name: string, jids: readonly string[], error?: string): void
}

/** Time between checks of the outboxes for items that other programs have added. */
const CHECK_MS = 5_000
/** Time between two starts of a process that crashes. */
const RESTART = { minMs: 1_000, maxMs: 60_000 }

/**
 * Runs a process for each returner that has items to write, so that a returner that hangs, crashes or loops delays only its own
 * queue. A process is started when there are items for it, and restarted if it ends while there are any.
 */
export class ReturnerProcesses {
  readonly #settings: ReturnerProcessesSettings
  readonly #children = new Map<string, ReturnerChild>()
  readonly #resting = new Map<string, NodeJS.Timeout>()
  readonly #restarts = new Map<string, Backoff>()
  readonly #timer: NodeJS.Timeout
  #closed = false

  constructor(settings: ReturnerProcessesSettings) {
    this.#settings = settings
    this.#timer = setInterval(() => this.wake(), CHECK_MS)
    this.wake()
  }

  /** Look for items that were added to an outbox. */
  wake(): void {
    for (const name of this.#names()) this.#child(name)?.wake()
  }

  /** Return the names of the returners with queued items. */
  #names(): Set<string> {
    const targets = this.#settings.outboxes.flatMap((outbox) => outbox.targets())
    const names = new Set(targets.map((target) => targetFrom(target).name))
    for (const name of this.#settings.served ?? []) names.delete(name)
    return names
  }

  /** Resolves with the reason why a target cannot be used, as a sentence; undefined if all can or that is unknown. */
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

  /** Restart the processes with changed start data. They finish their current write first. */
  refresh(): void {
    for (const child of this.#children.values()) void child.stop()
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
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
        if (message.type === 'log') writeRelayedLine(log, message.line, `loaded.int.returner.${name}`)
        else if (message.type === 'tried') onTried?.(name, message.jids, message.error)
        else {
          if (message.state.state === 'up') this.#restarts.delete(name)
          onState?.(name, message.state)
        }
      },
      onNative: (text) => log.debug('The process of the returner {name} ended with: {text}', { name, text }),
      onGone: (reason) => void this.#onGone(name, reason),
    })
    this.#children.set(name, child)
    return child
  }

  async #onGone(name: string, reason: string | undefined): Promise<void> {
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
    this.#settings.log.error(`Returner ${name}: ${reason} Its process will be restarted.`)
    await this.#storeFailure(name, reason)
  }

  /** Store the state of a returner whose process cannot store it, and report it. */
  async #storeFailure(name: string, error: string): Promise<void> {
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
