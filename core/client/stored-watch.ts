import { setTimeout as delay } from 'node:timers/promises'
import { type Subscription, tags } from '../events/index.ts'
import { targetsOf } from '../jobs/outbox-target.ts'
import { isRecord } from '../wire/bytes.ts'
import type { MasterEvents } from './master-link.ts'

/** What a minion says of a returner that has not taken its return yet. */
export interface NotStored {
  readonly id: string
  readonly returner: string
  readonly error: string
}

/** Minions of Python Salt say nothing of their returners: nobody is waited for longer. Milliseconds. */
const PATIENCE_MS = 1_000

/** Listens to what minions say of the stores that `--return` names. Made before the job is published. */
export class StoredWatch {
  readonly #subscription: Subscription
  readonly #returners: readonly string[]
  readonly #told = new Map<string, NotStored | undefined>()

  constructor(events: MasterEvents, ret: string) {
    this.#returners = targetsOf(ret).map(({ name }) => name)
    this.#subscription = events.subscribe((tag) => tag.startsWith(tags.jobs) && tag.includes('/stored/'))
  }

  /** Whose returns are not in a store yet. Waits a moment for those that have not said anything. */
  async notStored(jid: string, minions: readonly string[]): Promise<NotStored[]> {
    const expected = minions.flatMap((id) => this.#returners.map((name) => tags.jobStored(jid, id, name)))
    const over = new AbortController()
    const complete = this.#listen(new Set(expected))
    await Promise.race([
      complete,
      delay(PATIENCE_MS, undefined, { signal: over.signal }).catch(() => undefined),
    ])
    over.abort()
    this.#subscription.close()
    await complete
    return [...this.#told.values()].filter((one) => one !== undefined)
  }

  /** What is said later wins: a store may be back. */
  async #listen(expected: ReadonlySet<string>): Promise<void> {
    for await (const { tag, data } of this.#subscription) {
      if (!expected.has(tag)) continue
      const { id, returner, stored, error } = isRecord(data.data) ? data.data : data // as masters pass it on
      const trouble = {
        id: String(id),
        returner: String(returner),
        error: String(error ?? 'it did not say why'),
      }
      this.#told.set(tag, stored === true ? undefined : trouble)
      if (this.#told.size === expected.size) return
    }
  }
}
