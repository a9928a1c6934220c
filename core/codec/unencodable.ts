import { messageOf, SaltError } from '../base/errors.ts'
import { Encoded } from './encoded.ts'
import { representationOf } from './representation.ts'
import { DateTime, NamedConstant } from './values.ts'

/** Arrays and maps inside each other: of a message, and of a value that messages and records are put around. */
export const MAX_DEPTH = 128
const MAX_INNER_DEPTH = 112
/** Characters of a path in a sentence. */
const SHOWN = 200

/**
 * Why a value has no form on the wire, with the place: `return.a.b is circular`. Undefined if it has one. `name` is what
 * the value as a whole is called.
 */
export function whyUnencodable(value: unknown, name: string, levels = MAX_DEPTH): string | undefined {
  return new Search(name, levels).look(value, 1)
}

/**
 * For what a function gives, which travels inside of messages.
 * @throws SaltError ENCODE_FAILED with the place of what cannot be encoded, or lies more than 112 levels deep
 */
export function refuseUnencodable(value: unknown, name: string): void {
  const why = whyUnencodable(value, name, MAX_INNER_DEPTH)
  if (why !== undefined) throw unencodable(why)
}

export const unencodable = (why: string, cause?: unknown): SaltError =>
  new SaltError('ENCODE_FAILED', `The value cannot be encoded: ${why}.`, {}, { cause })

/** Walks a value as an encoder does, and remembers the way. */
class Search {
  readonly #name: string
  readonly #levels: number
  /** Keys and positions, from the outside to the value that is looked at. */
  readonly #path: (string | number)[] = []
  readonly #above: unknown[] = []

  constructor(name: string, levels: number) {
    this.#name = name
    this.#levels = levels
  }

  look(value: unknown, depth: number): string | undefined {
    if (this.#above.includes(value)) return this.#tell('is circular')
    if (depth > this.#levels) return this.#tell(`is nested deeper than ${this.#levels} levels`)
    if (typeof value === 'function' || typeof value === 'symbol') return this.#tell(`is a ${typeof value}`)
    if (typeof value !== 'object' || value === null || isLeaf(value)) return undefined
    if (value instanceof Promise) return this.#tell('is a promise; await it')
    this.#above.push(value)
    try {
      return this.#inside(value, depth)
    } catch (error) {
      return this.#tell(`cannot be read: ${messageOf(error)}`)
    } finally {
      this.#above.pop()
    }
  }

  #inside(value: object, depth: number): string | undefined {
    if (value instanceof Map) return this.#entries(value, depth)
    if (value instanceof Set) return this.#elements([...value], depth)
    const shown = representationOf(value)
    if (shown !== value) return this.look(shown, depth + 1)
    if (Array.isArray(value)) return this.#elements(value, depth)
    for (const key of Object.keys(value)) {
      const why = this.#member(key, Reflect.get(value, key), depth)
      if (why !== undefined) return why
    }
    return undefined
  }

  #elements(values: readonly unknown[], depth: number): string | undefined {
    for (const [index, value] of values.entries()) {
      const why = this.#member(index, value, depth)
      if (why !== undefined) return why
    }
    return undefined
  }

  #entries(map: Map<unknown, unknown>, depth: number): string | undefined {
    for (const [key, value] of map) {
      if (typeof key === 'object' && key !== null && !isLeaf(key))
        return this.#tell('has a key that is an array or a map')
      const why = this.look(key, depth + 1) ?? this.#member(String(key), value, depth)
      if (why !== undefined) return why
    }
    return undefined
  }

  #member(key: string | number, value: unknown, depth: number): string | undefined {
    this.#path.push(key)
    const why = this.look(value, depth + 1)
    this.#path.pop()
    return why
  }

  #tell(problem: string): string {
    const path = this.#name + this.#path.map(step).join('')
    return `${path.length > SHOWN ? `${path.slice(0, SHOWN)}…` : path} ${problem}`
  }
}

const step = (key: string | number) =>
  typeof key === 'string' && /^[\w$-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`

/** What has no members, however it looks: it has a form of its own on the wire. */
const isLeaf = (value: object) =>
  value instanceof Date ||
  value instanceof Number ||
  value instanceof DateTime ||
  value instanceof NamedConstant ||
  value instanceof Encoded ||
  value instanceof Uint8Array
