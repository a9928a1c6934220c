export interface WindowLimits {
  /** Minions at a time. */
  readonly size: number
  /** Milliseconds a slot stays closed after its minion is done. */
  readonly waitMs: number
  /** Stop at the first that fails or does not return. */
  readonly failhard: boolean
  /** Stop when more than so many have. */
  readonly mayFail: number
}

/**
 * Which minions of a batch run now and which are next: a window that moves on as each of them is done, not when all of
 * it are. Pure: moments (in milliseconds) are handed in.
 */
export class BatchWindow {
  readonly #limits: WindowLimits
  readonly #known = new Set<string>()
  readonly #queue: string[] = []
  readonly #active = new Set<string>()
  /** When each closed slot opens. */
  #closed: number[] = []
  #failed = 0
  #halted: string | undefined

  constructor(limits: WindowLimits) {
    this.#limits = limits
  }

  /** They are to run, too. Those it knows already are left out. */
  join(ids: Iterable<string>): void {
    for (const id of ids) {
      if (this.#known.has(id)) continue
      this.#known.add(id)
      this.#queue.push(id)
    }
  }

  /** As it was before a restart: these run. */
  resume(running: Iterable<string>, failed: number): void {
    for (const id of running) {
      this.#known.add(id)
      this.#active.add(id)
    }
    this.#failed = failed
  }

  /** Minions that may start now; they count as running from here on. */
  next(now: number): string[] {
    if (this.#halted !== undefined) return []
    this.#closed = this.#closed.filter((moment) => moment > now)
    const free = this.#limits.size - this.#active.size - this.#closed.length
    const ids = this.#queue.splice(0, Math.max(0, free))
    for (const id of ids) this.#active.add(id)
    return ids
  }

  /** A minion has returned, or was given up. */
  finished(id: string, succeeded: boolean, now: number): void {
    if (!this.#active.delete(id)) return
    const { waitMs, failhard, mayFail } = this.#limits
    if (waitMs > 0) this.#closed.push(now + waitMs)
    if (succeeded) return
    this.#failed++
    if (failhard) this.halt(`Minion ${id} failed or did not return. Batch run stopped due to failhard.`)
    else if (this.#failed > mayFail)
      this.halt(
        `Batch run stopped: ${this.#failed} failed or did not return, allowed are ${mayFail} (--batch-max-fail).`,
      )
  }

  /** Start nobody any more; who runs is still waited for. The first reason stays. */
  halt(reason: string): void {
    this.#halted ??= reason
  }

  /** Why nobody is started any more: a sentence. */
  get halted(): string | undefined {
    return this.#halted
  }

  /** When the next closed slot opens, if somebody waits for one. */
  nextOpening(): number {
    return this.#queue.length > 0 ? Math.min(...this.#closed) : Number.POSITIVE_INFINITY
  }

  get running(): ReadonlySet<string> {
    return this.#active
  }

  get queued(): readonly string[] {
    return this.#queue
  }

  get over(): boolean {
    return this.#active.size === 0 && (this.#halted !== undefined || this.#queue.length === 0)
  }
}
