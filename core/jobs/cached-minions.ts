import type { MatchSubject } from '../author/kinds.ts'
import type { MinionData } from './minion-data.ts'
import type { Fields } from './records.ts'

/** Minions with what is cached of them, each time anew and one after the other: all at once are too much. */
export function cachedMinions(ids: readonly string[], data: MinionData): Iterable<MatchSubject> {
  return {
    *[Symbol.iterator]() {
      for (const id of ids) yield new CachedMinion(id, data) as MatchSubject
    },
  }
}

/** What is cached of a minion is read when a matcher looks at it, and once; of many facts, those it looks at. */
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
