import { writeFileAtomic } from '../base/atomic-file.ts'
import { topicOf } from '../channel/publish-channel.ts'
import { tags } from '../events/index.ts'

export interface PresenceSettings {
  acceptedIds(): Promise<string[]>
  /** Topics somebody is subscribed to: each minion subscribes to its own. */
  topics(): ReadonlySet<string>
  fire(tag: string, data: Record<string, unknown>): void
  /** Where others on this host read who is connected. */
  readonly file: string
  readonly events: boolean
}

/** Who is connected to the publish port; fires the presence events (wire protocol §12). */
export class Presence {
  readonly #settings: PresenceSettings
  /** Undefined at first: what the file says then is from an earlier run. */
  #last: ReadonlySet<string> | undefined

  constructor(settings: PresenceSettings) {
    this.#settings = settings
  }

  async update(): Promise<void> {
    const { acceptedIds, topics, file, events, fire } = this.#settings
    const connected = topics()
    const present = new Set((await acceptedIds()).filter((id) => connected.has(topicOf(id))))
    const last = this.#last ?? new Set()
    const fresh = [...present].filter((id) => !last.has(id))
    const lost = [...last].filter((id) => !present.has(id))
    const changed = fresh.length > 0 || lost.length > 0
    if (changed || !this.#last) await writeFileAtomic(file, JSON.stringify([...present]), { mode: 0o600 })
    if (changed && events) fire(tags.presenceChange, { new: fresh, lost })
    this.#last = present
    if (events) fire(tags.presencePresent, { present: [...present] })
  }
}
