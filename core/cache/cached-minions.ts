import type { MatchSubject } from '../author/kinds.ts'
import type { Fields } from '../base/record.ts'
import type { KnownFacts } from './known-facts.ts'
import type { MinionData } from './minion-data.ts'

/** Iterate over minions with their cached data. Each iteration makes new objects, one at a time, to save memory. */
export function cachedMinions(ids: readonly string[], data: MinionData): Iterable<MatchSubject> {
  return {
    *[Symbol.iterator]() {
      const known = data.known()
      for (const id of ids) yield new CachedMinion(id, known) as MatchSubject
    },
  }
}

/** A minion whose cached data is looked up once, when a matcher first uses it. */
class CachedMinion {
  readonly id: string
  readonly #known: KnownFacts
  #grains: Fields | undefined | null = null
  #pillar: Fields | undefined | null = null

  constructor(id: string, known: KnownFacts) {
    this.id = id
    this.#known = known
  }

  get grains() {
    if (this.#grains === null) this.#grains = this.#known.of('grains', this.id)
    return this.#grains
  }

  get pillar() {
    if (this.#pillar === null) this.#pillar = this.#known.of('pillar', this.id)
    return this.#pillar
  }
}
