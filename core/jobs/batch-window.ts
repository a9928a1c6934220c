export interface WindowLimits {
  /** Number of minions at a time. */
  readonly size: number
  /** Milliseconds that a slot stays closed after its minion is done. */
  readonly waitMs: number
  /** Stop after the first minion that fails or does not return. */
  readonly failhard: boolean
  /** Stop when more minions than this have failed or not returned. */
  readonly mayFail: number
}

/** Bounds of the time that open slots wait for others, in milliseconds, and its share of the time that minions take. */
const GATHER = { minMs: 20, maxMs: 1_000, share: 1 / 4 }

/**
 * A sliding window over the minions of a batch. A slot opens when its minion is done, not when all minions of the window are.
 * A wave is a job that is published to every minion of the master, so one wave fills all slots that open at about the same
 * time: the longer minions take, or the busier the master, the longer slots are gathered. Pure: times (in milliseconds) are
 * parameters.
 */
export class BatchWindow {
  readonly #limits: WindowLimits
  readonly #known = new Set<string>()
  readonly #queue: string[] = []
  /** Start times of the running minions, by id. */
  readonly #active = new Map<string, number>()
  /** Times at which the slots of finished minions open or have opened, earliest first. */
  #openings: number[] = []
  /** Milliseconds that open slots wait for others, counted from the first of them. */
  #gatherMs = GATHER.minMs
  #failed = 0
  #halted: string | undefined

  constructor(limits: WindowLimits) {
    this.#limits = limits
  }

  /** Queue minions. Ids that were added before are ignored. */
  join(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#known.has(id)) continue
      this.#known.add(id)
      this.#queue.push(id)
    }
  }

  /** Restore the state from before a restart: these minions run. */
  resume(running: Iterable<string>, failed: number, now: number): void {
    for (const id of running) {
      this.#known.add(id)
      this.#active.set(id, now)
    }
    this.#failed = failed
  }

  /** Remove from the queue and return the minions that may start now. They count as running from now on. */
  next(now: number): string[] {
    if (this.#halted !== undefined) return []
    const unused = this.#limits.size - this.#active.size - this.#openings.length
    if (unused <= 0 && this.#active.size > 0 && now < this.nextOpening()) return []
    const opened = this.#openings.findIndex((moment) => moment > now)
    const closed = opened < 0 ? [] : this.#openings.slice(opened)
    const free = this.#limits.size - this.#active.size - closed.length
    const ids = this.#queue.splice(0, Math.max(0, free))
    this.#openings = closed
    for (const id of ids) this.#active.set(id, now)
    return ids
  }

  /** Put minions back that {@link next} returned and that were not started. */
  putBack(ids: readonly string[]): void {
    for (const id of ids) this.#active.delete(id)
    this.#queue.unshift(...ids)
  }

  /** Record that a minion has returned or was given up. */
  finished(id: string, succeeded: boolean, now: number): void {
    const since = this.#active.get(id)
    if (since === undefined) return
    this.#active.delete(id)
    const { waitMs, failhard, mayFail } = this.#limits
    if (this.#openings.length === 0) this.#gatherMs = gatherMsOf(now - since)
    this.#openings.push(now + waitMs)
    if (succeeded) return
    this.#failed++
    if (failhard) this.halt(`Minion ${id} failed or did not return. Batch run stopped due to failhard.`)
    else if (this.#failed > mayFail)
      this.halt(
        `Batch run stopped: ${this.#failed === 1 ? 'One minion' : `${this.#failed} minions`} failed or did not return; the limit is ${mayFail} (--batch-max-fail).`,
      )
  }

  /** Start no more minions. Running ones are still awaited. Later reasons are ignored. */
  halt(reason: string): void {
    this.#halted ??= reason
  }

  /** The reason why no more minions are started, as a sentence. */
  get halted(): string | undefined {
    return this.#halted
  }

  /** Time at which the next wave may start; infinite if no minion is queued or no slot is going to open. */
  nextOpening(): number {
    const [first] = this.#openings
    return first !== undefined && this.#queue.length > 0 ? first + this.#gatherMs : Number.POSITIVE_INFINITY
  }

  /** Start times of the running minions, by id. */
  get running(): ReadonlyMap<string, number> {
    return this.#active
  }

  get queued(): readonly string[] {
    return this.#queue
  }

  get over(): boolean {
    return this.#active.size === 0 && (this.#halted !== undefined || this.#queue.length === 0)
  }
}

const gatherMsOf = (took: number): number =>
  Math.min(Math.max(GATHER.minMs, took * GATHER.share), GATHER.maxMs)
