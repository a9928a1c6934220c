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

/** Milliseconds that open slots wait for others at the least and the most, and the share of the time minions take. */
const GATHER = { least: 20, most: 1_000, share: 1 / 4 }

/**
 * Which minions of a batch run now and which are next: a window that moves on as each of them is done, not when all of
 * it are. A wave is a job that every minion of the master gets to see, so slots that open at about the same time are
 * filled by one: the longer minions take, or the busier the master, the longer slots are gathered. Pure: moments (in
 * milliseconds) are handed in.
 */
export class BatchWindow {
  readonly #limits: WindowLimits
  readonly #known = new Set<string>()
  readonly #queue: string[] = []
  /** Who runs, and since when. */
  readonly #active = new Map<string, number>()
  /** When each slot opens, or has opened, whose minion is done; the earliest first. */
  #openings: number[] = []
  /** How long slots wait for others, from the first of them on. */
  #gatherMs = GATHER.least
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
  resume(running: Iterable<string>, failed: number, now: number): void {
    for (const id of running) {
      this.#known.add(id)
      this.#active.set(id, now)
    }
    this.#failed = failed
  }

  /** Minions that may start now; they count as running from here on. */
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

  /** A minion has returned, or was given up. */
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

  /** When the next wave may start, if somebody waits for one and slots open by themselves. */
  nextOpening(): number {
    const [first] = this.#openings
    return first !== undefined && this.#queue.length > 0 ? first + this.#gatherMs : Number.POSITIVE_INFINITY
  }

  /** Who runs, and since when. */
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
  Math.min(Math.max(GATHER.least, took * GATHER.share), GATHER.most)
