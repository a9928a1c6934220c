import type { MatchSubject } from '../author/kinds.ts'
import type { Fields } from '../base/record.ts'
import type { MinionData } from './minion-data.ts'

/** Iterate over minions with their cached data. Each iteration makes new objects, one at a time, to save memory. */
export function cachedMinions(ids: readonly string[], data: MinionData): Iterable<MatchSubject> {
  return {
    *[Symbol.iterator]() {
      for (const id of ids) yield new CachedMinion(id, data) as MatchSubject
    },
  }
}

/** A minion whose cached data is read once, when a matcher first uses it. Only the facts it uses are decoded. */
class CachedMinion {
  readonly id: string
  readonly #cache: MinionData
  #grains: Fields | undefined | null = null
  #pillar: Fields | undefined | null = null

  constructor(id: string, cache: MinionData) {
    this.id = id
    this.#cache = cache
  }

  get grains() {
    if (this.#grains === null) this.#grains = this.#cache.glance('grains', this.id)
    return this.#grains
  }

  get pillar() {
    if (this.#pillar === null) this.#pillar = this.#cache.glance('pillar', this.id)
    return this.#pillar
  }
}
