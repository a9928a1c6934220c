import { isRecord } from '../../base/record.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import { type Subscription, tags } from '../../events/index.ts'
import { targetsOf } from '../../outbox/outbox-target.ts'
import type { MasterEvents } from './master-link.ts'

/** A return that a returner has not stored yet, as its minion reports. */
export interface UnstoredReturn {
  readonly id: string
  readonly returner: string
  readonly error: string
}

/** How long to wait for reports: minions of Python Salt send none. */
const WAIT_MS = 1_000

/** Collects the reports of minions about the returners that `--return` names. Create it before the job is published. */
export class ReturnerWatch {
  readonly #subscription: Subscription
  readonly #returners: readonly string[]
  readonly #reports = new Map<string, UnstoredReturn | undefined>()

  constructor(events: MasterEvents, ret: string) {
    this.#returners = targetsOf(ret).map(({ name }) => name)
    this.#subscription = events.subscribe((tag) => tag.startsWith(tags.jobs) && tag.includes('/stored/'))
  }

  /** Return which returns are not stored yet. Waits a moment for minions that have not reported. */
  async notStored(jid: string, minions: readonly string[]): Promise<UnstoredReturn[]> {
    const expected = minions.flatMap((id) => this.#returners.map((name) => tags.jobStored(jid, id, name)))
    const complete = this.#listen(new Set(expected))
    await endsWithin(complete, WAIT_MS)
    this.#subscription.close()
    await complete
    return [...this.#reports.values()].filter((one) => one !== undefined)
  }

  /** Keep the last report of each minion: a store may be reachable again. */
  async #listen(expected: ReadonlySet<string>): Promise<void> {
    for await (const { tag, data } of this.#subscription) {
      if (!expected.has(tag)) continue
      const { id, returner, stored, error } = isRecord(data.data) ? data.data : data // as masters pass it on
      const trouble = {
        id: String(id),
        returner: String(returner),
        error: String(error ?? 'the reason is not known'),
      }
      this.#reports.set(tag, stored === true ? undefined : trouble)
      if (this.#reports.size === expected.size) return
    }
  }
}
