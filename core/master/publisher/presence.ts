import { writeFileAtomic } from '../../base/files/atomic-file.ts'
import type { Connections } from '../../cache/connected.ts'
import { minionTopic } from '../../channel/publish-channel.ts'
import { tags } from '../../events/index.ts'
import { MAX_RECONNECT_MS } from '../../wire/minion-start.ts'

/** How long a minion that was connected is expected back: as long as the minions of a master spread, and some seconds. */
const RECONNECTING_MS = MAX_RECONNECT_MS + 10_000

export interface PresenceSettings {
  acceptedIds(): Promise<string[]>
  /** Topics of connected minions (`minionTopic`). */
  topics(): ReadonlySet<string>
  /** Number of connected subscribers. */
  subscribers(): number
  /** Return which of these minions have an address from which a peer is connected. */
  byAddress(ids: readonly string[]): Promise<readonly string[]>
  fire(tag: string, data: Record<string, unknown>): void
  /** Return the connected runs of minions, for the file; only set if something reads them. */
  runs?(ids: readonly string[]): Promise<Connections['runs']>
  /** File in which other processes of this host read which minions are connected. */
  readonly file: string
  /** What the publisher of an earlier run last wrote to the file. */
  readonly previous?: Connections | undefined
  /** Milliseconds, from any fixed moment. */
  elapsed(): number
  readonly events: boolean
}

/**
 * Tracks which minions are connected to the publish port, and fires the presence events (wire protocol §12). A minion of
 * salt-ts is recognized by its topic. Minions of Python Salt subscribe to everything: they are recognized by their
 * addresses, as by Salt's own master.
 */
export class Presence {
  readonly #settings: PresenceSettings
  /** Accepted minions that were connected and no longer are, and when that was seen. */
  readonly #lost = new Map<string, number>()
  /** Minions that have subscribed to their topic: for them an address proves nothing. */
  readonly #named = new Set<string>()
  #present: ReadonlySet<string> = new Set()
  /** Content of the file; empty until this process has written it. */
  #written = ''

  constructor(settings: PresenceSettings) {
    this.#settings = settings
    const { previous, elapsed } = settings
    const now = elapsed()
    for (const id of previous?.lost ?? []) this.#lost.set(id, Number.NEGATIVE_INFINITY)
    for (const id of [...(previous?.present ?? []), ...(previous?.reconnecting ?? [])])
      this.#lost.set(id, now)
  }

  /** Number of minions connected at the last update. */
  get size(): number {
    return this.#present.size
  }

  async update(): Promise<void> {
    const { acceptedIds, events, fire } = this.#settings
    const accepted = await acceptedIds()
    const present = new Set(await this.#connectedAmong(accepted))
    const fresh = [...present].filter((id) => !this.#present.has(id))
    const lost = [...this.#present].filter((id) => !present.has(id))
    const now = this.#settings.elapsed()
    for (const id of lost) this.#lost.set(id, now)
    const known = new Set(accepted)
    for (const id of this.#lost.keys()) if (present.has(id) || !known.has(id)) this.#lost.delete(id)
    for (const id of this.#named) if (!known.has(id)) this.#named.delete(id)
    this.#present = present
    await this.#write()
    if ((fresh.length > 0 || lost.length > 0) && events) fire(tags.presenceChange, { new: fresh, lost })
  }

  async #connectedAmong(ids: readonly string[]): Promise<string[]> {
    const { topics, subscribers, byAddress } = this.#settings
    const connected = topics()
    const named = ids.filter((id) => connected.has(minionTopic(id)))
    for (const id of named) this.#named.add(id)
    if (subscribers() <= named.length) return named
    return [...named, ...(await byAddress(ids.filter((id) => !this.#named.has(id))))]
  }

  /** Fire the event of all connected minions: once per `loop_interval`. */
  announce(): void {
    const { events, fire } = this.#settings
    if (events) fire(tags.presencePresent, { present: [...this.#present] })
  }

  async #write(): Promise<void> {
    const present = [...this.#present]
    const lost = [...this.#lost.keys()]
    const expectedSince = this.#settings.elapsed() - RECONNECTING_MS
    const reconnecting = [...this.#lost].filter(([, at]) => at > expectedSince).map(([id]) => id)
    const runs = await this.#settings.runs?.(present)
    const connections: Connections = { present, lost, reconnecting, ...(runs && { runs }) }
    const text = JSON.stringify(connections)
    if (text === this.#written) return
    await writeFileAtomic(this.#settings.file, text, { mode: 0o600 })
    this.#written = text
  }
}
