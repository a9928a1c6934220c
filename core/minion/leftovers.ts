import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import type { ReturnSpool, SpoolEntry } from '../jobs/return-spool.ts'
import type { Deliverer } from './deliverer.ts'
import type { ProcTable } from './proc-table.ts'

export interface LeftoversSettings {
  readonly spool: Pick<ReturnSpool, 'size' | 'pending'>
  readonly deliverers: readonly Pick<Deliverer, 'size' | 'holds'>[]
  /** Jobs that still run here: their returns are delivered when they end. */
  readonly procs: Pick<ProcTable, 'get'>
  deliver(entry: SpoolEntry): void
  readonly log: Log
  /** Time between two looks at the spool. Milliseconds. */
  readonly lookMs?: number
}

const LOOK_MS = 5_000

/**
 * Finds returns in the spool that no deliverer has: those of job processes that an earlier run of the minion started, and whose
 * file in `proc` is gone. Otherwise they would lie there until the next start.
 */
export class Leftovers {
  readonly #settings: LeftoversSettings
  readonly #looking: NodeJS.Timeout
  /** Names that the look before found: a return that is new in the spool is about to be delivered. */
  #before: ReadonlySet<string> = new Set()

  constructor(settings: LeftoversSettings) {
    this.#settings = settings
    this.#looking = setInterval(() => this.#tryToLook(), settings.lookMs ?? LOOK_MS).unref()
  }

  close(): void {
    clearInterval(this.#looking)
  }

  /** Look, or wait for the next look if the store is closed or its disk is gone. */
  #tryToLook(): void {
    try {
      this.#look()
    } catch (error) {
      this.#settings.log.debug(`The spool could not be looked at: ${messageOf(error)}`)
    }
  }

  #look(): void {
    const { deliver, log } = this.#settings
    const left = this.#left()
    for (const entry of left) {
      if (!this.#before.has(entry.name)) continue
      log.warn(`The return of job ${entry.jid} was found in the spool, and is sent now.`)
      deliver(entry)
    }
    this.#before = new Set(left.map(({ name }) => name))
  }

  #left(): SpoolEntry[] {
    const { spool, deliverers, procs } = this.#settings
    if (spool.size <= deliverers.reduce((sum, { size }) => sum + size, 0)) return []
    const isHeld = (entry: SpoolEntry) => deliverers.some((deliverer) => deliverer.holds(entry))
    return spool.pending().filter((entry) => !procs.get(entry.jid) && !isHeld(entry))
  }
}
