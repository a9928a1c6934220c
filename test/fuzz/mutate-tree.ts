import type { Value } from '../../core/codec/index.ts'
import type { Random } from '../harness/random.ts'
import { names, values } from './interesting.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { mutateText } from './mutate-text.ts'

/** Return a copy of the value with one to eight changes. `other` gives parts to put in. */
export function mutateTree(value: Value, other: Value, words: readonly string[], random: Random): Value {
  const mutation = new Mutation(other, words, random)
  let changed = value
  do changed = mutation.somewhere(changed)
  while (random.oneIn(2))
  return changed
}

class Mutation {
  readonly #other: Value
  readonly #words: readonly string[]
  readonly #random: Random

  constructor(other: Value, words: readonly string[], random: Random) {
    this.#other = other
    this.#words = words
    this.#random = random
  }

  /** Change the value itself, or one somewhere inside. */
  somewhere(value: Value): Value {
    const random = this.#random
    const members = childrenOf(value)
    if (members.length === 0 || random.oneIn(5)) return this.#changed(value)
    const at = random.below(members.length)
    return withChild(value, at, this.somewhere(members[at] as Value))
  }

  #changed(value: Value): Value {
    const random = this.#random
    if (random.oneIn(8)) return this.#nested(value)
    if (Array.isArray(value) && !random.oneIn(4)) return this.#changedList(value)
    if (isMap(value) && !random.oneIn(4)) return this.#changedMap(entriesOf(value))
    if (typeof value === 'string' && !random.oneIn(3))
      return mutateText(value, this.#text(), this.#words, random)
    if (typeof value === 'number' && random.oneIn(2)) return value + random.pick([-1, 1, 0.5, 2 ** 32])
    if (value instanceof Uint8Array && random.oneIn(2))
      return mutateBytes(Buffer.from(value), Buffer.alloc(8), random)
    return this.#any()
  }

  /** A value from elsewhere. */
  #any(): Value {
    const random = this.#random
    if (this.#words.length > 0 && random.oneIn(3)) return random.pick(this.#words)
    return random.oneIn(4) ? this.#part(this.#other) : random.pick(values)
  }

  #part(value: Value): Value {
    const members = childrenOf(value)
    return members.length === 0 || this.#random.oneIn(4) ? value : this.#part(this.#random.pick(members))
  }

  #text(): string {
    const part = this.#part(this.#other)
    return typeof part === 'string' ? part : this.#random.pick(names)
  }

  #nested(value: Value): Value {
    const random = this.#random
    let nested = value
    for (let left = random.oneIn(8) ? random.below(130) : 1; left > 0; left--)
      nested = random.oneIn(2) ? [nested] : { [random.pick(names)]: nested }
    return nested
  }

  #changedList(list: readonly Value[]): Value {
    const random = this.#random
    const [start, end] = random.span(list.length)
    const repeated = () => Array.from({ length: random.oneIn(8) ? random.below(300) : 1 }, () => this.#any())
    return [...list.slice(0, start), ...(random.oneIn(2) ? repeated() : []), ...list.slice(end)]
  }

  #changedMap(entries: [unknown, Value][]): Value {
    const random = this.#random
    const at = random.below(entries.length + 1)
    const name = random.oneIn(8) ? random.pick(values) : random.oneIn(4) ? this.#text() : random.pick(names)
    const [key, value] = entries[at] ?? [name, this.#any()]
    if (random.oneIn(3)) entries.splice(at, 1)
    else if (random.oneIn(2)) entries.splice(at, 1, [name, value])
    else entries.splice(at, 0, [random.oneIn(2) ? name : key, this.#any()])
    return new Map(entries)
  }
}

const isMap = (value: Value): value is Map<unknown, Value> | { [key: string]: Value } =>
  value instanceof Map || (typeof value === 'object' && value !== null && value.constructor === Object)

const entriesOf = (map: Map<unknown, Value> | { [key: string]: Value }): [unknown, Value][] =>
  map instanceof Map ? [...map] : Object.entries(map)

function childrenOf(value: Value): Value[] {
  if (Array.isArray(value)) return value
  return isMap(value) ? entriesOf(value).map(([, member]) => member) : []
}

/** Return a copy of a list or a map with another child at an index. */
function withChild(value: Value, at: number, child: Value): Value {
  if (Array.isArray(value)) return value.with(at, child)
  if (!isMap(value)) return child
  return new Map(entriesOf(value).map(([key, member], index) => [key, index === at ? child : member]))
}
