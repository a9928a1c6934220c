import { messageOf, SaltError } from '../base/errors.ts'
import { Encoded } from './encoded.ts'
import { isIterator, representationOf } from './representation.ts'
import { DateTime, NamedConstant } from './values.ts'

/** Levels of nested arrays and maps in a message. */
export const MAX_DEPTH = 128
/** Levels of nested arrays and maps in a value that messages and records enclose. */
const MAX_INNER_DEPTH = 112
/** Longest path in an error message, in characters. */
const SHOWN = 200

/**
 * Return why a value cannot be encoded, with the place: `return.a.b is circular`. Undefined if it can. `name` is the name
 * of the whole value in the message.
 */
export function whyUnencodable(value: unknown, name: string, levels = MAX_DEPTH): string | undefined {
  return new Search(name, levels).reasonIn(value, 1)
}

/**
 * Check the result of a function, which messages enclose.
 * @throws SaltError ENCODE_FAILED with the place that cannot be encoded, or is nested deeper than 112 levels
 */
export function refuseUnencodable(value: unknown, name: string): void {
  const why = whyUnencodable(value, name, MAX_INNER_DEPTH)
  if (why !== undefined) throw unencodable(why)
}

export const unencodable = (why: string, cause?: unknown): SaltError =>
  new SaltError('ENCODE_FAILED', `The value cannot be encoded: ${why}.`, {}, { cause })

/** Walks a value as the encoder does, and keeps the path. */
class Search {
  readonly #name: string
  readonly #levels: number
  /** Keys and positions, from the outermost value to the current one. */
  readonly #path: (string | number)[] = []
  readonly #above: unknown[] = []

  constructor(name: string, levels: number) {
    this.#name = name
    this.#levels = levels
  }

  reasonIn(value: unknown, depth: number): string | undefined {
    if (this.#above.includes(value)) return this.#problem('is circular')
    if (typeof value === 'function' || typeof value === 'symbol') return this.#problem(`is a ${typeof value}`)
    if (typeof value !== 'object' || value === null || isLeaf(value)) return undefined
    if (depth > this.#levels) return this.#problem(`is nested deeper than ${this.#levels} levels`)
    if (value instanceof Promise) return this.#problem('is a promise; await it')
    if (isIterator(value)) return this.#problem('is an iterator; make a list of it, [...iterator]')
    this.#above.push(value)
    try {
      return this.#inside(value, depth)
    } catch (error) {
      return this.#problem(`cannot be read: ${messageOf(error)}`)
    } finally {
      this.#above.pop()
    }
  }

  #inside(value: object, depth: number): string | undefined {
    if (value instanceof Map) return this.#entries(value, depth)
    if (value instanceof Set) return this.#elements([...value], depth)
    const shown = representationOf(value)
    if (shown !== value) return this.reasonIn(shown, depth + 1)
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
        return this.#problem('has a key that is an array or a map')
      const why = this.reasonIn(key, depth + 1) ?? this.#member(String(key), value, depth)
      if (why !== undefined) return why
    }
    return undefined
  }

  #member(key: string | number, value: unknown, depth: number): string | undefined {
    this.#path.push(key)
    const why = this.reasonIn(value, depth + 1)
    this.#path.pop()
    return why
  }

  #problem(problem: string): string {
    const path = this.#name + this.#path.map(step).join('')
    return `${path.length > SHOWN ? `${path.slice(0, SHOWN)}…` : path} ${problem}`
  }
}

const step = (key: string | number) =>
  typeof key === 'string' && /^[\w$-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`

/** Whether an object is encoded as a whole, without looking at members. */
const isLeaf = (value: object) =>
  value instanceof Date ||
  value instanceof Number ||
  value instanceof DateTime ||
  value instanceof NamedConstant ||
  value instanceof Encoded ||
  value instanceof Uint8Array
