import type { KnownStart } from '../../cache/minion-starts.ts'

interface Settings {
  acceptedIds(): Promise<string[]>
  /** Return the tokens of the connected runs of each minion. */
  runs(): ReadonlyMap<string, readonly string[]>
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
  /** Tokens of the runs, joined. */
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
  /** Minions with several connected runs, by id. */
  #duplicates: ReadonlyMap<string, ConnectedRuns> = new Map()

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Look for duplicates and report them; call it every few seconds. */
  async check(): Promise<void> {
    const { acceptedIds, elapsed, runs } = this.#settings
    const now = elapsed()
    const duplicates = new Map<string, ConnectedRuns>()
    for (const [id, tokens] of runs()) {
      if (tokens.length < 2) continue
      const before = this.#duplicates.get(id)
      const same = tokens.toSorted().join()
      duplicates.set(id, before?.runs === same ? before : { runs: same, since: now, reportedAt: undefined })
    }
    this.#duplicates = duplicates
    const due = [...duplicates].filter(
      ([, { since, reportedAt }]) =>
        now - since >= CERTAIN_MS && (reportedAt === undefined || now - reportedAt >= REPORT_INTERVAL_MS),
    )
    if (due.length === 0) return
    const accepted = new Set(await acceptedIds())
    for (const [id, duplicate] of due)
      if (accepted.has(id) && (await this.#report(id))) duplicate.reportedAt = now
  }

  /** Report the connected runs of a minion; false if they are fewer than two. */
  async #report(id: string): Promise<boolean> {
    const { startsOf, runs, report } = this.#settings
    const tokens = runs().get(id) ?? []
    const there = (await startsOf(id)).filter(({ token }) => tokens.includes(token))
    if (there.length < 2) return false
    report(id, there)
    return true
  }
}

export const duplicateMessage = (id: string, starts: readonly KnownStart[]): string =>
  `${starts.length} minions run with the id ${id} and its key, and each of them runs its jobs: ` +
  `${starts.map(startPlace).join(', and ')}. One may be a copy of the other's disk: stop it, remove minion.pem and minion.pub ` +
  'from its pki_dir, and give it an id of its own. With refuse_second_minion: true the master gives no jobs to ' +
  'the one that started second.'

/** Describe where a minion runs. */
export const startPlace = ({ address, host, pid }: Omit<KnownStart, 'token' | 'at'>): string =>
  `one at ${address} (host ${host}, process ${pid})`
