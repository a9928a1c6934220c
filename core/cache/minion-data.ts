import { join } from 'node:path'
import { type Fields, isRecord } from '../base/record.ts'
import type { Value } from '../codec/index.ts'
import { keysUnder, openStore, type Store, type StoreChange, type StoreOptions } from '../store/index.ts'
import { KnownFacts } from './known-facts.ts'

/** Whether grains are those of a minion of Python Salt. Minions of salt-ts never report this grain. */
export const arePythonGrains = ({ pythonversion }: Fields): boolean => pythonversion !== undefined

/** Facts about one minion. */
export interface MinionFacts {
  readonly grains?: Fields
  readonly pillar?: Fields
}

/** The number of changes so far, and the minions of the latest, the last one at the end. */
interface Changes {
  readonly count: number
  readonly ids: readonly string[]
}

const CHANGES = ['changes']
/** Maximum number of changes whose minions are recorded: each change writes them all. */
const MAX_CHANGES = 128

/**
 * The master's cache of the grains and pillar of each minion (`minion_data_cache`), used for targeting.
 * Keys: `['grains', id]`, `['pillar', id]`, `['changes']`. Several processes may have it open.
 */
export class MinionData {
  readonly #store: Store
  readonly #known = new KnownFacts(this)

  /** Return the path of the file in `directory`. */
  static path(directory: string): string {
    return join(directory, 'minion-data.mdb')
  }

  /** Open the store in `directory`. @throws SaltError STORE_FAILED */
  static open(directory: string, options?: StoreOptions): MinionData {
    return new MinionData(openStore(MinionData.path(directory), options))
  }

  private constructor(store: Store) {
    this.#store = store
  }

  /** Replace the given facts of a minion and keep the others. */
  async save(id: string, { grains, pillar }: MinionFacts): Promise<void> {
    await this.#store.change((records) => {
      if (grains) records.put(['grains', id], grains)
      if (pillar) records.put(['pillar', id], pillar)
      noteChange(records, id)
    })
  }

  grains(id: string): Fields | undefined {
    return asFields(this.#store.get(['grains', id]))
  }

  pillar(id: string): Fields | undefined {
    return asFields(this.#store.get(['pillar', id]))
  }

  /** Return grains or pillar as a lazy map, which decodes each fact on access. Do not keep it or pass it on. */
  glance(kind: keyof MinionFacts, id: string): Fields | undefined {
    return asFields(this.#store.getLazy([kind, id]))
  }

  /** Return the facts that this process has used before, as they are now, with all others behind them. */
  known(): KnownFacts {
    this.#known.refresh()
    return this.#known
  }

  /**
   * Return the number of changes so far, and the minions that have changed since `count` was that number; undefined if they are not
   * known.
   */
  changedSince(count: number | undefined): {
    readonly changes: number
    readonly since: readonly string[] | undefined
  } {
    const changes = changesOf(this.#store)
    const missed = count === undefined ? -1 : changes.count - count
    const isKnown = missed >= 0 && missed <= changes.ids.length
    return {
      changes: changes.count,
      since: isKnown ? changes.ids.slice(changes.ids.length - missed) : undefined,
    }
  }

  /** Return the ids of the minions whose grains are cached, sorted. */
  ids(): string[] {
    return Array.from(this.#store.keys(keysUnder('grains')), (key) => String(key[1]))
  }

  async remove(id: string): Promise<void> {
    await this.#store.change((records) => {
      records.remove(['grains', id])
      records.remove(['pillar', id])
      noteChange(records, id)
    })
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

const asFields = (facts: Value | undefined): Fields | undefined => (isRecord(facts) ? facts : undefined)

/**
 * Return the record of changes. A store without one counts from the present time, so that its numbers differ from those of a
 * store that was there before.
 */
function changesOf(records: Pick<StoreChange, 'get'>): Changes {
  const found = records.get(CHANGES)
  return isChanges(found) ? found : { count: Date.now() * 1000, ids: [] }
}

const isChanges = (found: unknown): found is Changes =>
  isRecord(found) && typeof found.count === 'number' && Array.isArray(found.ids)

function noteChange(records: StoreChange, id: string): void {
  const { count, ids } = changesOf(records)
  records.put(CHANGES, { count: count + 1, ids: [...ids, id].slice(-MAX_CHANGES) })
}
