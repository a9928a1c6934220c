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
  #last: ReadonlySet<string> = new Set()

  constructor(settings: PresenceSettings) {
    this.#settings = settings
  }

  async update(): Promise<void> {
    const { acceptedIds, topics, file, events, fire } = this.#settings
    const connected = topics()
    const present = new Set((await acceptedIds()).filter((id) => connected.has(topicOf(id))))
    const fresh = [...present].filter((id) => !this.#last.has(id))
    const lost = [...this.#last].filter((id) => !present.has(id))
    if (fresh.length || lost.length) {
      await writeFileAtomic(file, JSON.stringify([...present]), { mode: 0o600 })
      if (events) fire(tags.presenceChange, { new: fresh, lost })
    }
    this.#last = present
    if (events) fire(tags.presencePresent, { present: [...present] })
  }
}
