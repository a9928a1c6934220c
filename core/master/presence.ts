import { writeFileAtomic } from '../base/atomic-file.ts'
import { topicOf } from '../channel/publish-channel.ts'
import { tags } from '../events/index.ts'
import type { Connections } from '../jobs/connected.ts'

export interface PresenceSettings {
  acceptedIds(): Promise<string[]>
  /** Topics somebody is subscribed to: each minion of salt-ts subscribes to its own. */
  topics(): ReadonlySet<string>
  /** Connected subscribers. */
  subscribers(): number
  /** Those of these minions that have an address somebody is connected from. */
  byAddress(ids: readonly string[]): Promise<readonly string[]>
  fire(tag: string, data: Record<string, unknown>): void
  /** Find which runs of minions are connected, for the file; left out where nobody reads that. */
  runs?(ids: readonly string[]): Promise<Connections['runs']>
  /** Where others on this host read who is connected. */
  readonly file: string
  readonly events: boolean
}

/**
 * Who is connected to the publish port; fires the presence events (wire protocol §12). A minion is known by its topic.
 * Minions of Python Salt subscribe to everything: they are known by their addresses, as Salt's own master knows them.
 */
export class Presence {
  readonly #settings: PresenceSettings
  readonly #seen = new Set<string>()
  /** Have shown their topic, so that their address alone says nothing. */
  readonly #named = new Set<string>()
  #present: ReadonlySet<string> = new Set()
  /** What the file says; at first it is from an earlier run. */
  #written = ''

  constructor(settings: PresenceSettings) {
    this.#settings = settings
  }

  /** How many are connected, as of the last look. */
  get size(): number {
    return this.#present.size
  }

  async update(): Promise<void> {
    const { events, fire } = this.#settings
    const present = new Set(await this.#look())
    const fresh = [...present].filter((id) => !this.#present.has(id))
    const lost = [...this.#present].filter((id) => !present.has(id))
    for (const id of fresh) this.#seen.add(id)
    this.#present = present
    await this.#write()
    if ((fresh.length > 0 || lost.length > 0) && events) fire(tags.presenceChange, { new: fresh, lost })
  }

  async #look(): Promise<string[]> {
    const { acceptedIds, topics, subscribers, byAddress } = this.#settings
    const connected = topics()
    const ids = await acceptedIds()
    const named = ids.filter((id) => connected.has(topicOf(id)))
    for (const id of named) this.#named.add(id)
    if (subscribers() <= named.length) return named
    return [...named, ...(await byAddress(ids.filter((id) => !this.#named.has(id))))]
  }

  /** Tell who is there: once in each round of maintenance. */
  announce(): void {
    const { events, fire } = this.#settings
    if (events) fire(tags.presencePresent, { present: [...this.#present] })
  }

  async #write(): Promise<void> {
    const lost = [...this.#seen].filter((id) => !this.#present.has(id))
    const present = [...this.#present]
    const runs = await this.#settings.runs?.(present)
    const connections: Connections = { present, lost, ...(runs && { runs }) }
    const text = JSON.stringify(connections)
    if (text === this.#written) return
    await writeFileAtomic(this.#settings.file, text, { mode: 0o600 })
    this.#written = text
  }
}
