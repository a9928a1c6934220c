import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import { type Deferred, deferred } from '../../base/deferred.ts'
import { messageOf, SaltError } from '../../base/errors.ts'

/** A master that a minion may choose. */
export interface FailoverMaster {
  /** `host:port`. */
  readonly address: string
  readonly publishConnection: { readonly isUp: boolean }
  /** Serve it until the signal aborts. Rejects when the minion gives up on it. */
  run(signal: AbortSignal): Promise<void>
}

/** Times in milliseconds. */
export interface FailoverTimes {
  /** Time limit for a master to accept the minion, and for its publish port to accept the connection. */
  readonly tryMs: number
  /** How long a lost connection may take to come back before the next master is tried: a master that restarts keeps its minions. */
  readonly graceMs: number
  /** Wait after a round in which no master could be used. */
  readonly pauseMs: number
  /** Interval at which the first master is tried while another one serves; 0 for never. */
  readonly failbackMs: number
}

export interface FailoverSettings<M extends FailoverMaster> {
  /** In the order in which they are tried. */
  readonly masters: readonly M[]
  readonly times: FailoverTimes
  /** Rounds without any master after which the minion gives up; -1: no limit (`master_tries`). */
  readonly maxRounds: number
  /** Whether something listens at the address of a master. */
  isReachable(master: M): Promise<boolean>
  readonly log: Log
  /** Aborts when the minion closes. */
  readonly closing: AbortSignal
}

/** A master that serves the minion. */
interface Serving<M> {
  readonly master: M
  readonly ended: Promise<void>
  end(): Promise<void>
}

/**
 * Chooses one of several masters and changes it (`master_type: failover`). [All transitions](../../../docs/several-masters.md#failover):
 * choosing → serving; serving → lost, when the connection is down for longer than the grace time, or the minion gives up on the
 * master; lost → choosing, from the next one on; serving → serving by the first master, when that can be used again.
 */
export class Failover<M extends FailoverMaster> {
  readonly #settings: FailoverSettings<M>
  #current: M | undefined
  #changed: Deferred<void> = deferred()
  readonly #firstRound = deferred<void>()

  constructor(settings: FailoverSettings<M>) {
    this.#settings = settings
  }

  /** The master that serves the minion now, or did last. */
  get current(): M | undefined {
    return this.#current
  }

  /** Resolves when each master was tried once, or one of them serves. */
  get firstRound(): Promise<void> {
    return this.#firstRound.promise
  }

  /** Note that the connection to a master was established or lost. */
  connectionChanged(): void {
    this.#changed.resolve()
    this.#changed = deferred()
  }

  /**
   * Use one master after another until the minion closes. Rejects with MASTER_UNREACHABLE after `maxRounds` rounds without any
   * master.
   */
  async run(): Promise<void> {
    const { masters, maxRounds, times, closing } = this.#settings
    let startIndex = 0
    for (let failed = 0; !closing.aborted; ) {
      const serving = await this.#choose(startIndex)
      this.#firstRound.resolve()
      if (closing.aborted) return await serving?.end()
      if (serving) {
        failed = 0
        startIndex = (masters.indexOf(await this.#serve(serving)) + 1) % masters.length
      } else if (maxRounds > 0 && ++failed >= maxRounds) throw this.#unreachable()
      else await delay(times.pauseMs, undefined, { signal: closing }).catch(() => undefined)
    }
  }

  /** Try the masters in order, beginning at index `startIndex`. */
  async #choose(startIndex: number): Promise<Serving<M> | undefined> {
    const { masters, closing } = this.#settings
    const inOrder = [...masters.slice(startIndex), ...masters.slice(0, startIndex)]
    for (const master of inOrder) {
      if (closing.aborted) return undefined
      const serving = await this.#try(master)
      if (serving) return serving
    }
    return undefined
  }

  async #try(master: M): Promise<Serving<M> | undefined> {
    const { log, times, closing, isReachable } = this.#settings
    if (!(await isReachable(master))) {
      log.info(`The master ${master.address} cannot be reached.`)
      return undefined
    }
    const ending = new AbortController()
    let hasEnded = false
    const ended = master
      .run(AbortSignal.any([ending.signal, closing]))
      .catch((error: unknown) => {
        if (!closing.aborted)
          log.error(`The master ${master.address} does not serve this minion: ${messageOf(error)}`)
      })
      .finally(() => {
        hasEnded = true
        this.connectionChanged()
      })
    const end = () => {
      ending.abort()
      return ended
    }
    const isUp = await this.#until(() => hasEnded || master.publishConnection.isUp, times.tryMs)
    if (isUp && !hasEnded) return { master, ended, end }
    if (!hasEnded)
      log.info(`The master ${master.address} did not accept this minion within ${times.tryMs / 1000} s.`)
    await end()
    return undefined
  }

  /** Use a master until it is lost, and return it. With failback, the first master may replace it before that. */
  async #serve(first: Serving<M>): Promise<M> {
    const { log, masters, times, closing } = this.#settings
    let serving = first
    let failbackAt = performance.now() + times.failbackMs
    const over = { isOver: false }
    void serving.ended.finally(() => {
      over.isOver = true
    })
    this.#take(serving.master)
    for (;;) {
      const { master } = serving
      const wantsBack = times.failbackMs > 0 && master !== masters[0]
      const waitMs = wantsBack ? Math.max(0, failbackAt - performance.now()) : Number.POSITIVE_INFINITY
      const isLost = await this.#until(() => over.isOver || !master.publishConnection.isUp, waitMs)
      if (closing.aborted) break
      if (isLost) {
        const isBack = await this.#until(() => over.isOver || master.publishConnection.isUp, times.graceMs)
        if (isBack && !over.isOver) continue
        if (!closing.aborted) log.warn(`The master ${master.address} is lost. Trying the next one.`)
        break
      }
      const back = await this.#try(masters[0] as M)
      failbackAt = performance.now() + times.failbackMs
      if (!back) continue
      log.info(`Going back to the master ${back.master.address}.`)
      await serving.end()
      serving = back
      over.isOver = false
      void back.ended.finally(() => {
        over.isOver = true
      })
      this.#take(back.master)
    }
    await serving.end()
    return serving.master
  }

  #take(master: M): void {
    this.#current = master
    this.#settings.log.info(`The master ${master.address} serves this minion.`)
  }

  /** Wait until the condition holds, for at most `ms` milliseconds or until the minion closes. Returns whether it holds. */
  async #until(holds: () => boolean, ms: number): Promise<boolean> {
    const { closing } = this.#settings
    const end = performance.now() + ms
    while (!holds() && !closing.aborted) {
      const left = end - performance.now()
      if (left <= 0) return false
      const over = new AbortController()
      const signal = AbortSignal.any([over.signal, closing])
      const late = delay(Math.min(left, MAX_WAIT_MS), undefined, { signal }).catch(() => undefined)
      await Promise.race([this.#changed.promise, late]).finally(() => over.abort())
    }
    return holds()
  }

  #unreachable(): SaltError {
    const { masters, maxRounds } = this.#settings
    const names = masters.map(({ address }) => address).join(', ')
    return new SaltError(
      'MASTER_UNREACHABLE',
      `None of the masters ${names} could be used in ${maxRounds} rounds (master_tries). Is one of them running, and are the addresses right?`,
    )
  }
}

const MAX_WAIT_MS = 60_000
