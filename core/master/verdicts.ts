import type { Verdict } from '../wire/catalogue.ts'

/** A check that waits for answers. */
export interface OpenCheck {
  readonly jid: string
  /** Who was asked. */
  readonly ids: readonly string[]
  /** About so many calls. */
  readonly calls: number
}

type Hear = (id: string, refusals: Verdict['refusals']) => void

/**
 * The checks this worker waits for. A minion's answer comes to any worker, and is passed on to the others from there. It
 * is stored nowhere, since it may quote arguments; one that no check waits for is dropped.
 */
export class Verdicts {
  readonly #open = new Map<
    string,
    { readonly asked: Set<string>; readonly calls: number; readonly hear: Hear }
  >()
  readonly #passOn: (id: string, verdict: Verdict) => void

  constructor(passOn: (id: string, verdict: Verdict) => void = () => {}) {
    this.#passOn = passOn
  }

  /** `hear` is given the first answer of each until the check is over, which the function that is given back says. */
  open({ jid, ids, calls }: OpenCheck, hear: Hear): () => void {
    this.#open.set(jid, { asked: new Set(ids), calls, hear })
    return () => this.#open.delete(jid)
  }

  /** A minion answered here. */
  answered(id: string, verdict: Verdict): void {
    if (this.#open.has(verdict.jid)) this.take(id, verdict)
    else this.#passOn(id, verdict)
  }

  /** A minion answered here, or to another worker. */
  take(id: string, { jid, refusals }: Verdict): void {
    const check = this.#open.get(jid)
    if (refusals.length === check?.calls && check.asked.delete(id)) check.hear(id, refusals)
  }
}
