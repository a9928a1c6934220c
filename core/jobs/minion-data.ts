import { join } from 'node:path'
import type { Value } from '../codec/index.ts'
import { openStore, type Store, type StoreOptions, under } from '../store/index.ts'
import { type Fields, isFields } from './records.ts'

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

  /** The file inside `directory`. */
  static path(directory: string): string {
    return join(directory, 'minion-data.mdb')
  }

  /** @throws SaltError STORE_FAILED */
  static open(directory: string, options?: StoreOptions): MinionData {
    return new MinionData(openStore(MinionData.path(directory), options))
  }

  private constructor(store: Store) {
    this.#store = store
  }

  /** Replaces what is given; what is left out stays. */
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

  /** As `grains` and `pillar`, for a look at a few of many facts: each is decoded when it is looked at. Not to be passed on. */
  glance(kind: keyof MinionFacts, id: string): Fields | undefined {
    return asFields(this.#store.glance([kind, id]))
  }

  /** Ids of minions of which grains are known, in order. */
  ids(): string[] {
    return Array.from(this.#store.keys(under('grains')), (key) => String(key[1]))
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

const asFields = (facts: Value | undefined): Fields | undefined => (isFields(facts) ? facts : undefined)
