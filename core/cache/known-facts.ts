import type { Fields } from '../base/record.ts'
import type { MinionData, MinionFacts } from './minion-data.ts'

type Kind = keyof MinionFacts
/** The decoded values of some facts of a minion by name; undefined for a fact that the minion does not have. */
type Values = Map<string, unknown>

/** Maximum number of facts kept of each minion: few are used in targets. When there would be more, the others are forgotten. */
const MAX_FACTS = 16
/** Maximum size of a fact that is kept decoded. Larger ones are decoded each time. */
const MAX_CHARACTERS = 200
const MAX_MEMBERS = 16

/**
 * The facts that targets have used, decoded, so that the next target finds them without reading the store. They are as they were at
 * the last `refresh`, whichever process has changed them.
 */
export class KnownFacts {
  readonly #data: MinionData
  readonly #known = {
    grains: new Map<string, Values | undefined>(),
    pillar: new Map<string, Values | undefined>(),
  }
  #changes: number | undefined

  constructor(data: MinionData) {
    this.#data = data
  }

  /** Forget the facts that have changed. Call this before the facts are used. */
  refresh(): void {
    const { changes, since } = this.#data.changedSince(this.#changes)
    this.#changes = changes
    for (const known of Object.values(this.#known)) {
      if (since === undefined) known.clear()
      else for (const id of since) known.delete(id)
    }
  }

  /** Return grains or pillar of a minion as a map that reads each fact on access. Do not keep it or pass it on. */
  of(kind: Kind, id: string): Fields | undefined {
    const known = this.#known[kind]
    const record = new FactRecord(this.#data, kind, id)
    const values = known.has(id) ? known.get(id) : record.exists() ? new Map<string, unknown>() : undefined
    known.set(id, values)
    return values && new Proxy<Fields>({}, new KnownMembers(values, record))
  }
}

/** The record of a minion in the store, read when it is needed. */
class FactRecord {
  readonly #read: (how: 'glance' | 'whole') => Fields | undefined
  #glance: Fields | undefined
  #whole: Fields | undefined

  constructor(data: MinionData, kind: Kind, id: string) {
    this.#read = (how) => (how === 'glance' ? data.glance(kind, id) : data[kind](id))
  }

  exists(): boolean {
    this.#glance ??= this.#read('glance')
    return this.#glance !== undefined
  }

  /** Return all facts; decodes them all. */
  whole(): Fields {
    this.#whole ??= this.#read('whole') ?? {}
    return this.#whole
  }

  value(name: string): unknown {
    this.#glance ??= this.#read('glance')
    const facts = this.#whole ?? this.#glance ?? {}
    return Object.hasOwn(facts, name) ? facts[name] : undefined
  }
}

/** The handler of the proxy. */
class KnownMembers implements ProxyHandler<Fields> {
  readonly #values: Values
  readonly #record: FactRecord

  constructor(values: Values, record: FactRecord) {
    this.#values = values
    this.#record = record
  }

  get(_: Fields, key: string | symbol): unknown {
    return this.#value(key)
  }

  has(_: Fields, key: string | symbol): boolean {
    return this.#value(key) !== undefined
  }

  getOwnPropertyDescriptor(_: Fields, key: string | symbol): PropertyDescriptor | undefined {
    const value = this.#value(key)
    return value === undefined ? undefined : { value, configurable: true, enumerable: true, writable: true }
  }

  ownKeys(): (string | symbol)[] {
    return Reflect.ownKeys(this.#record.whole())
  }

  #value(key: string | symbol): unknown {
    if (typeof key === 'symbol') return undefined
    const known = this.#values.get(key)
    if (known !== undefined || this.#values.has(key)) return known
    const value = this.#record.value(key)
    if (!isSmall(value)) return value
    if (this.#values.size >= MAX_FACTS) this.#values.clear()
    this.#values.set(key, value)
    return value
  }
}

const isSmall = (value: unknown): boolean =>
  Array.isArray(value) ? value.length <= MAX_MEMBERS && value.every(isShort) : isShort(value)

const isShort = (value: unknown): boolean =>
  typeof value === 'string' ? value.length <= MAX_CHARACTERS : typeof value !== 'object' || value === null
