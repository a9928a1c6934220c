import { join } from 'node:path'
import { type Fields, isRecord } from '../base/record.ts'
import type { Value } from '../codec/index.ts'
import { keysUnder, openStore, type Store, type StoreOptions } from '../store/index.ts'

/** Facts about one minion. */
export interface MinionFacts {
  readonly grains?: Fields
  readonly pillar?: Fields
}

/**
 * The master's cache of the grains and pillar of each minion (`minion_data_cache`), used for targeting.
 * Keys: `['grains', id]`, `['pillar', id]`. Several processes may have it open.
 */
export class MinionData {
  readonly #store: Store

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

  /** Return the ids of the minions whose grains are cached, sorted. */
  ids(): string[] {
    return Array.from(this.#store.keys(keysUnder('grains')), (key) => String(key[1]))
  }

  async remove(id: string): Promise<void> {
    await this.#store.change((records) => {
      records.remove(['grains', id])
      records.remove(['pillar', id])
    })
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

const asFields = (facts: Value | undefined): Fields | undefined => (isRecord(facts) ? facts : undefined)
