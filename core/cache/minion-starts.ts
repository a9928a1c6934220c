import { join } from 'node:path'
import { keysUnder, openStore, type Store, type StoreOptions, type StoreReader } from '../store/index.ts'
import type { MinionStart } from '../wire/minion-start.ts'

/** A run of a minion that its master allowed to take jobs. */
export interface KnownStart extends MinionStart {
  /** Time at which it was allowed, in milliseconds since 1970. */
  readonly at: number
}

/** Interval at which a sign of life of a syndic is recorded, and time of silence after which the syndic is forgotten. */
const NOTE_AGAIN_MS = 3_600_000
const FORGET_MS = 30 * 86_400_000

/** Number of runs that are kept for each minion. */
const MAX_STARTS = 4

/**
 * The latest runs of each salt-ts minion, as it reported them: `['start', id]` → runs, the newest last, `['run', token]` → id, and
 * `['syndic', id]` for those whose latest run is a syndic.
 * Several processes may have the store open.
 */
export class MinionStarts {
  readonly #store: Store

  /** Return the path of the file in `directory`. */
  static path(directory: string): string {
    return join(directory, 'starts.mdb')
  }

  /** Open the store in `directory`. @throws SaltError STORE_FAILED */
  static open(directory: string, options?: StoreOptions): MinionStarts {
    return new MinionStarts(openStore(MinionStarts.path(directory), options))
  }

  private constructor(store: Store) {
    this.#store = store
  }

  /** Add a run. If it is already stored, its time is kept. */
  save(id: string, start: MinionStart, at: number): Promise<void> {
    return this.add(id, [{ ...start, at }])
  }

  /** Add runs. The time of one that is already stored is kept. */
  async add(id: string, starts: readonly KnownStart[]): Promise<void> {
    const known = new Set(this.of(id).map(({ token }) => token))
    if (starts.every(({ token }) => known.has(token))) return
    await this.#store.change((records) => {
      const all = [...startsIn(records, id), ...starts]
      const kept = latestStarts(all)
      const tokens = new Set(kept.map(({ token }) => token))
      for (const { token } of all) if (!tokens.has(token)) records.remove(['run', token])
      records.put(['start', id], kept)
      for (const token of tokens) if (!records.has(['run', token])) records.put(['run', token], id)
      const latest = kept.at(-1)
      if (latest?.syndic) records.put(['syndic', id], latest.at)
      else records.remove(['syndic', id])
    })
  }

  /** Return the ids of syndics. */
  syndics(): string[] {
    return Array.from(this.#store.keys(keysUnder('syndic')), (key) => String(key[1]))
  }

  isSyndic(id: string): boolean {
    return this.#store.has(['syndic', id])
  }

  /**
   * Record a sign of life of a syndic that does not report its starts, such as one of Python Salt. It is forgotten after a month
   * of silence.
   */
  async noteSyndic(id: string, at: number): Promise<void> {
    const since = this.#store.get(['syndic', id])
    if (typeof since !== 'number' || at - since > NOTE_AGAIN_MS) await this.#store.put(['syndic', id], at)
  }

  /** Return the ids of the minions that have reported a start. */
  ids(): string[] {
    return Array.from(this.#store.keys(keysUnder('start')), (key) => String(key[1]))
  }

  of(id: string): readonly KnownStart[] {
    return startsIn(this.#store, id)
  }

  /** Return the id of the minion that reported the run with this token; undefined if none did. */
  idOf(token: string): string | undefined {
    const id = this.#store.get(['run', token])
    return typeof id === 'string' ? id : undefined
  }

  /** Remove the runs of minions that are not known. */
  async keep(isKnown: (id: string) => boolean): Promise<void> {
    const gone = this.ids().filter((id) => !isKnown(id))
    for (const id of gone)
      await this.#store.change((records) => {
        for (const { token } of startsIn(records, id)) records.remove(['run', token])
        records.remove(['start', id])
      })
    const now = Date.now()
    for (const id of this.syndics()) {
      const isSilent =
        this.of(id).at(-1)?.syndic !== true && now - Number(this.#store.get(['syndic', id])) > FORGET_MS
      if (isSilent || !isKnown(id)) await this.#store.remove(['syndic', id])
    }
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

/**
 * Return the latest runs of a minion, as many as are kept, the newest last. A run that occurs several times keeps its first time.
 */
export function latestStarts(starts: readonly KnownStart[]): KnownStart[] {
  const runs = new Map<string, KnownStart>()
  for (const start of starts) if (!runs.has(start.token)) runs.set(start.token, start)
  return [...runs.values()].sort((one, other) => one.at - other.at).slice(-MAX_STARTS)
}

const startsIn = (records: Pick<StoreReader, 'get'>, id: string): readonly KnownStart[] =>
  (records.get(['start', id]) ?? []) as unknown as KnownStart[]
