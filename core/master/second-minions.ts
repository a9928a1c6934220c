import { startTopicOf, topicOf } from '../channel/publish-channel.ts'
import type { KnownStart } from '../jobs/minion-starts.ts'

interface Settings {
  acceptedIds(): Promise<string[]>
  /** Topics that have a subscriber: each run of a minion of salt-ts has one of its own. */
  topics(): ReadonlySet<string>
  /** Runs that the minion itself has reported. */
  startsOf(id: string): Promise<readonly KnownStart[]>
  /** Report minions that share an id, the earlier first. */
  say(id: string, starts: readonly KnownStart[]): void
  /** A clock that only goes ahead. Milliseconds. */
  elapsed(): number
}

/** A connection whose other end is gone without a word is closed within 23 seconds (heartbeats). Milliseconds. */
const CERTAIN_MS = 25_000
const TOLD_MS = 3_600_000

interface Crowd {
  readonly runs: string
  readonly since: number
  told: number | undefined
}

/**
 * Finds minions of which two run with the same id and key, as after a disk was copied: two runs of it stay connected. One that
 * was started again, or comes again after its connection broke, is not taken for two.
 */
export class SecondMinions {
  readonly #settings: Settings
  /** By the topic of the minion. */
  #crowds: ReadonlyMap<string, Crowd> = new Map()

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** To be called every few seconds. */
  async look(): Promise<void> {
    const { acceptedIds, elapsed } = this.#settings
    const now = elapsed()
    const crowds = new Map<string, Crowd>()
    for (const [topic, runs] of runsByTopic(this.#settings.topics())) {
      if (runs.length < 2) continue
      const before = this.#crowds.get(topic)
      const same = runs.sort().join()
      crowds.set(topic, before?.runs === same ? before : { runs: same, since: now, told: undefined })
    }
    this.#crowds = crowds
    const due = [...crowds].filter(
      ([, { since, told }]) => now - since >= CERTAIN_MS && (told === undefined || now - told >= TOLD_MS),
    )
    if (due.length === 0) return
    const ids = new Map((await acceptedIds()).map((id) => [topicOf(id), id]))
    for (const [topic, crowd] of due) {
      const id = ids.get(topic)
      if (id !== undefined && (await this.#tell(id))) crowd.told = now
    }
  }

  /** Anybody can subscribe to anything: only runs count that showed the minion's key. */
  async #tell(id: string): Promise<boolean> {
    const { startsOf, topics, say } = this.#settings
    const there = connectedOf(id, await startsOf(id), topics())
    if (there.length < 2) return false
    say(id, there)
    return true
  }
}

/** The runs of these minions that are connected. */
export function connectedRuns(
  ids: readonly string[],
  topics: ReadonlySet<string>,
): Record<string, readonly string[]> {
  const runs = runsByTopic(topics)
  return Object.fromEntries(ids.map((id) => [id, runs.get(topicOf(id)) ?? []]))
}

/** Those of these runs of a minion that are connected. */
const connectedOf = <T extends { readonly token: string }>(
  id: string,
  starts: readonly T[],
  topics: ReadonlySet<string>,
): T[] => starts.filter(({ token }) => topics.has(startTopicOf(id, token)))

/** Topics of runs, by that of their minion. */
function runsByTopic(topics: ReadonlySet<string>): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const topic of topics) {
    const [minion = '', run] = topic.split('.')
    if (run !== undefined) found.set(minion, [...(found.get(minion) ?? []), run])
  }
  return found
}

export const twoSentence = (id: string, starts: readonly KnownStart[]): string =>
  `${starts.length} minions run with the id ${id} and its key, and each of them runs its jobs: ` +
  `${starts.map(placeOf).join(', and ')}. One may be a copy of the other's disk: stop it, remove minion.pem and minion.pub ` +
  'from its pki_dir, and give it an id of its own. With refuse_second_minion: true this master lets the one that comes ' +
  'second take no jobs.'

/** Where a minion runs. */
export const placeOf = ({ address, host, pid }: Omit<KnownStart, 'token' | 'at'>): string =>
  `one at ${address} (host ${host}, process ${pid})`
