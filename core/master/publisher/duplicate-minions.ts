import type { KnownStart } from '../../cache/minion-starts.ts'
import { startTopicOf, topicOf } from '../../channel/publish-channel.ts'

interface Settings {
  acceptedIds(): Promise<string[]>
  /** Topics with a subscriber: each run of a minion of salt-ts subscribes to its own. */
  topics(): ReadonlySet<string>
  /** Return the starts that the minion itself has reported. */
  startsOf(id: string): Promise<readonly KnownStart[]>
  /** Report minions that share an id, the earlier first. */
  report(id: string, starts: readonly KnownStart[]): void
  /** Return milliseconds of a monotonic clock. */
  elapsed(): number
}

/** Two runs must stay connected this long: heartbeats close a dead connection within 23 s. */
const CERTAIN_MS = 25_000
const REPORT_INTERVAL_MS = 3_600_000

interface ConnectedRuns {
  /** Topics of the runs, joined. */
  readonly runs: string
  readonly since: number
  reportedAt: number | undefined
}

/**
 * Finds ids under which two minions run with the same key, as after a disk was copied: two runs stay connected. A minion
 * that was restarted, or reconnects, does not count as two.
 */
export class DuplicateMinions {
  readonly #settings: Settings
  /** Minions with several connected runs, by the minion's topic. */
  #duplicates: ReadonlyMap<string, ConnectedRuns> = new Map()

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Look for duplicates and report them; call it every few seconds. */
  async look(): Promise<void> {
    const { acceptedIds, elapsed } = this.#settings
    const now = elapsed()
    const duplicates = new Map<string, ConnectedRuns>()
    for (const [topic, runs] of runsByTopic(this.#settings.topics())) {
      if (runs.length < 2) continue
      const before = this.#duplicates.get(topic)
      const same = runs.sort().join()
      duplicates.set(
        topic,
        before?.runs === same ? before : { runs: same, since: now, reportedAt: undefined },
      )
    }
    this.#duplicates = duplicates
    const due = [...duplicates].filter(
      ([, { since, reportedAt }]) =>
        now - since >= CERTAIN_MS && (reportedAt === undefined || now - reportedAt >= REPORT_INTERVAL_MS),
    )
    if (due.length === 0) return
    const ids = new Map((await acceptedIds()).map((id) => [topicOf(id), id]))
    for (const [topic, duplicate] of due) {
      const id = ids.get(topic)
      if (id !== undefined && (await this.#report(id))) duplicate.reportedAt = now
    }
  }

  /** Report the runs that proved the minion's key; false if they are fewer than two. Anybody can subscribe to any topic. */
  async #report(id: string): Promise<boolean> {
    const { startsOf, topics, report } = this.#settings
    const there = connectedOf(id, await startsOf(id), topics())
    if (there.length < 2) return false
    report(id, there)
    return true
  }
}

/** Return the connected runs of each of these minions. */
export function connectedRuns(
  ids: readonly string[],
  topics: ReadonlySet<string>,
): Record<string, readonly string[]> {
  const runs = runsByTopic(topics)
  return Object.fromEntries(ids.map((id) => [id, runs.get(topicOf(id)) ?? []]))
}

/** Return those starts of a minion that are connected. */
const connectedOf = <T extends { readonly token: string }>(
  id: string,
  starts: readonly T[],
  topics: ReadonlySet<string>,
): T[] => starts.filter(({ token }) => topics.has(startTopicOf(id, token)))

/** Group the topics of runs by the topic of their minion. */
function runsByTopic(topics: ReadonlySet<string>): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const topic of topics) {
    const [minion = '', run] = topic.split('.')
    if (run !== undefined) found.set(minion, [...(found.get(minion) ?? []), run])
  }
  return found
}

export const duplicateMessage = (id: string, starts: readonly KnownStart[]): string =>
  `${starts.length} minions run with the id ${id} and its key, and each of them runs its jobs: ` +
  `${starts.map(placeOf).join(', and ')}. One may be a copy of the other's disk: stop it, remove minion.pem and minion.pub ` +
  'from its pki_dir, and give it an id of its own. With refuse_second_minion: true the master gives no jobs to ' +
  'the one that started second.'

/** Describe where a minion runs. */
export const placeOf = ({ address, host, pid }: Omit<KnownStart, 'token' | 'at'>): string =>
  `one at ${address} (host ${host}, process ${pid})`
