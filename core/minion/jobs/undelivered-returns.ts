import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import type { ReturnSpool, SpoolEntry } from '../../jobs/return-spool.ts'
import type { Deliverer } from './deliverer.ts'
import type { ProcTable } from './proc-table.ts'

export interface UndeliveredReturnsSettings {
  readonly spool: Pick<ReturnSpool, 'size' | 'pending'>
  readonly deliverers: readonly Pick<Deliverer, 'size' | 'holds'>[]
  /** Jobs that still run. Their returns are delivered when they end. */
  readonly procs: Pick<ProcTable, 'get'>
  deliver(entry: SpoolEntry): void
  readonly log: Log
  /** Time between two checks of the spool, milliseconds. */
  readonly checkMs?: number
}

const CHECK_MS = 5_000

/**
 * Finds returns in the spool that no deliverer has: those of job processes that an earlier run of the minion started and whose
 * file in `proc` is missing. Otherwise they would stay there until the next start.
 */
export class UndeliveredReturns {
  readonly #settings: UndeliveredReturnsSettings
  readonly #timer: NodeJS.Timeout
  /** Names found by the previous check. A return that was not among them may just be about to be delivered. */
  #before: ReadonlySet<string> = new Set()

  constructor(settings: UndeliveredReturnsSettings) {
    this.#settings = settings
    this.#timer = setInterval(() => this.#tryCheck(), settings.checkMs ?? CHECK_MS).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Check the spool. If the store is closed or its disk is missing, leave it to the next check. */
  #tryCheck(): void {
    try {
      this.#check()
    } catch (error) {
      this.#settings.log.debug(`The spool could not be checked: ${messageOf(error)}`)
    }
  }

  #check(): void {
    const { deliver, log } = this.#settings
    const left = this.#left()
    for (const entry of left) {
      if (!this.#before.has(entry.name)) continue
      log.warn(`The return of job ${entry.jid} was found in the spool and is sent now.`)
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
