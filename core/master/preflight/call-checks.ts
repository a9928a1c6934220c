import type { CallCheckReport } from '../../wire/catalogue.ts'

/** A check whose minions have been asked. */
export interface OpenCheck {
  readonly jid: string
  /** Minions that were asked. */
  readonly ids: readonly string[]
  /** Number of calls that are checked. */
  readonly calls: number
}

type OnReport = (id: string, refusals: CallCheckReport['refusals']) => void

/**
 * The open checks of this worker. A minion's report may reach any worker, which passes it on to the others. Reports are not
 * stored, since they may quote arguments. A report that no check waits for is dropped.
 */
export class CallChecks {
  readonly #open = new Map<
    string,
    { readonly asked: Set<string>; readonly calls: number; readonly onReport: OnReport }
  >()
  readonly #passOn: (id: string, report: CallCheckReport) => void

  constructor(passOn: (id: string, report: CallCheckReport) => void = () => {}) {
    this.#passOn = passOn
  }

  /** Call `onReport` with the first report of each minion. Returns the function that ends the check. */
  open({ jid, ids, calls }: OpenCheck, onReport: OnReport): () => void {
    this.#open.set(jid, { asked: new Set(ids), calls, onReport })
    return () => this.#open.delete(jid)
  }

  /** Process a report that reached this worker. */
  report(id: string, report: CallCheckReport): void {
    if (this.#open.has(report.jid)) this.deliver(id, report)
    else this.#passOn(id, report)
  }

  /** Process a report that reached this worker or was passed on by another one. */
  deliver(id: string, { jid, refusals }: CallCheckReport): void {
    const check = this.#open.get(jid)
    if (refusals.length === check?.calls && check.asked.delete(id)) check.onReport(id, refusals)
  }
}
