/**
 * `key:sub:…:pattern` against nested data (wire protocol §15). Where the key ends and the pattern begins is not
 * marked, so every delimiter is tried as that point, the longest key first. What remains of the pattern inside a map may
 * be one of its keys, or again such an expression, always with `:`; `*:` stands for any key.
 */
import { type MatchSubject, SaltInvocationError, type Verdict } from 'salt-ts'
import { strOf } from '../outputters/_python.ts'

type LeafTest = (text: string) => boolean

/** Some expressions can be read in very many ways: after so many steps on one minion they are refused. */
const MOST_STEPS = 200_000

/** Not decidable without data; false for an expression without delimiter. `compile` makes the test of a pattern. */
export function preparePath(
  expression: unknown,
  delimiter: string,
  of: 'grains' | 'pillar',
  compile: (pattern: string) => LeafTest,
): (subject: MatchSubject) => Verdict {
  const parts = typeof expression === 'string' ? expression.split(delimiter) : []
  const tests = new Map<string, LeafTest>()
  const testOf = (pattern: string): LeafTest => {
    const known = tests.get(pattern) ?? compile(pattern)
    tests.set(pattern, known)
    return known
  }
  return (subject) => {
    const data = subject[of]
    if (data === undefined) return 'unknown'
    return parts.length > 1 && new Search(testOf).anySplit(data, parts, delimiter)
  }
}

/** One expression on the data of one minion. */
class Search {
  readonly #testOf: (pattern: string) => LeafTest
  #steps = 0

  constructor(testOf: (pattern: string) => LeafTest) {
    this.#testOf = testOf
  }

  anySplit(data: Readable, parts: readonly string[], delimiter: string): boolean {
    this.#step(parts.length)
    const values = this.#along(data, parts)
    for (let split = values.length - 1; split > 1; split--)
      if (this.#found(values[split], parts.slice(split).join(delimiter))) return true
    if (parts[0] === '*') return this.#found(data, parts.join(delimiter))
    return values.length > 1 && this.#found(values[1], parts.slice(1).join(delimiter))
  }

  #found(found: unknown, pattern: string): boolean {
    if (isMap(found)) return sizeOf(found) > 0 && this.#inMap(found, pattern)
    if (!Array.isArray(found)) return this.#matches(found, pattern)
    return found.some(
      (member) => (isMap(member) && this.#inMap(member, pattern)) || this.#matches(member, pattern),
    )
  }

  /** A map matches by one of its keys (`*`: by being there), or by what lies further down. `*:x` looks at every value. */
  #inMap(map: Readable, expression: string): boolean {
    this.#step()
    const wildcard = expression.startsWith('*:')
    const pattern = wildcard ? expression.slice(2) : expression
    if (pattern === '*' || hasText(map, pattern)) return true
    if (pattern.includes(':') && this.anySplit(map, pattern.split(':'), ':')) return true
    return wildcard && valuesOf(map).some((value) => this.#inValue(value, pattern))
  }

  #inValue(value: unknown, pattern: string): boolean {
    if (isMap(value)) return this.#inMap(value, pattern)
    return [value].flat().some((member) => this.#matches(member, pattern))
  }

  #matches(value: unknown, pattern: string): boolean {
    this.#step()
    return this.#testOf(pattern)(strOf(value))
  }

  /** The values at the first 0, 1, 2, … keys of a path, as far as it leads; the last of its parts is no key. */
  #along(data: Readable, path: readonly string[]): unknown[] {
    const values: unknown[] = []
    let here: unknown = data
    while (here !== undefined && values.push(here) < path.length) {
      const key = path[values.length - 1] as string
      here = Array.isArray(here) ? inList(here, key) : isMap(here) ? member(here, key) : undefined
    }
    return values
  }

  #step(size = 1): void {
    this.#steps += size
    if (this.#steps > MOST_STEPS)
      throw new SaltInvocationError(
        'The target can be read in too many ways to be decided: leave out some of its delimiters.',
      )
  }
}

type Readable = ReadonlyMap<unknown, unknown> | Readonly<Record<string, unknown>>

const INTEGER = /^\s*[+-]?\d+(?:_\d+)*\s*$/
const sizeOf = (map: Readable): number => (map instanceof Map ? map.size : Object.keys(map).length)
const valuesOf = (map: Readable): unknown[] => (map instanceof Map ? [...map.values()] : Object.values(map))

/** In a list a number is an index, or such a key of one of its maps; a name is a key of one of its maps. */
function inList(list: readonly unknown[], key: string): unknown {
  const number = INTEGER.test(key) ? Number(key.replaceAll('_', '')) : undefined
  const wanted = number ?? key
  for (const map of list) {
    const found =
      map instanceof Map ? map.get(wanted) : isMap(map) && number === undefined ? member(map, key) : undefined
    if (found !== undefined) return found
  }
  return number === undefined ? undefined : list.at(number)
}

/** Keys that are no text are found by what YAML makes of a word. */
function member(map: Readable, key: string): unknown {
  if (!(map instanceof Map))
    return Object.hasOwn(map, key) ? (map as Readonly<Record<string, unknown>>)[key] : undefined
  const found = map.get(key)
  if (found !== undefined) return found
  if (/^[+-]?\d+(?:\.\d+)?$/.test(key)) return map.get(Number(key))
  return /^(?:true|false)$/i.test(key) ? map.get(key.toLowerCase() === 'true') : undefined
}

const hasText = (map: Readable, key: string): boolean =>
  map instanceof Map ? map.has(key) : Object.hasOwn(map, key)

function isMap(value: unknown): value is Readable {
  if (value instanceof Map) return true
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
