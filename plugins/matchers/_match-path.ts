/**
 * Matches `key:sub:…:pattern` against nested data (wire protocol §15). Nothing marks where the key ends and the pattern
 * begins, so every delimiter is tried as that point, the longest key first. The rest of the pattern inside a map may be one of
 * its keys, or another such expression, always with `:`; `*:` stands for any key.
 */
import { type MatchResult, type MatchSubject, SaltInvocationError } from 'salt-ts'
import { strOf } from '../outputters/_python.ts'

type LeafTest = (text: string) => boolean

/** Limit for one minion: some expressions can be split in very many ways. */
const MAX_STEPS = 200_000

/**
 * Prepare an expression. The result is `unknown` without data, and false for an expression without a delimiter. `compile` makes
 * the test of a pattern.
 */
export function preparePath(
  expression: unknown,
  delimiter: string,
  of: 'grains' | 'pillar',
  compile: (pattern: string) => LeafTest,
): (subject: MatchSubject) => MatchResult {
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

/** The search of one expression in the data of one minion. */
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
    if (isMapping(found)) return sizeOf(found) > 0 && this.#inMap(found, pattern)
    if (!Array.isArray(found)) return this.#matches(found, pattern)
    return found.some(
      (member) => (isMapping(member) && this.#inMap(member, pattern)) || this.#matches(member, pattern),
    )
  }

  /** A map matches by one of its keys (`*`: by existing), or by a deeper match. `*:x` tests every value. */
  #inMap(map: Readable, expression: string): boolean {
    this.#step()
    const wildcard = expression.startsWith('*:')
    const pattern = wildcard ? expression.slice(2) : expression
    if (pattern === '*' || hasText(map, pattern)) return true
    if (pattern.includes(':') && this.anySplit(map, pattern.split(':'), ':')) return true
    return wildcard && valuesOf(map).some((value) => this.#inValue(value, pattern))
  }

  #inValue(value: unknown, pattern: string): boolean {
    if (isMapping(value)) return this.#inMap(value, pattern)
    return [value].flat().some((member) => this.#matches(member, pattern))
  }

  #matches(value: unknown, pattern: string): boolean {
    this.#step()
    return this.#testOf(pattern)(strOf(value))
  }

  /** Return the values at the first 0, 1, 2, … keys of a path, as far as it exists; the path's last part is not a key. */
  #along(data: Readable, path: readonly string[]): unknown[] {
    const values: unknown[] = []
    let here: unknown = data
    while (here !== undefined && values.push(here) < path.length) {
      const key = path[values.length - 1] as string
      here = Array.isArray(here) ? inList(here, key) : isMapping(here) ? member(here, key) : undefined
    }
    return values
  }

  #step(size = 1): void {
    this.#steps += size
    if (this.#steps > MAX_STEPS)
      throw new SaltInvocationError('The target can be split in too many ways: use fewer delimiters.')
  }
}

type Readable = ReadonlyMap<unknown, unknown> | Readonly<Record<string, unknown>>

const INTEGER = /^\s*[+-]?\d+(?:_\d+)*\s*$/
const sizeOf = (map: Readable): number => (map instanceof Map ? map.size : Object.keys(map).length)
const valuesOf = (map: Readable): unknown[] => (map instanceof Map ? [...map.values()] : Object.values(map))

/** Look up a key in a list: a number is an index, or such a key of one of its maps; a name is a key of one of its maps. */
function inList(list: readonly unknown[], key: string): unknown {
  const number = INTEGER.test(key) ? Number(key.replaceAll('_', '')) : undefined
  const wanted = number ?? key
  for (const map of list) {
    const found =
      map instanceof Map
        ? map.get(wanted)
        : isMapping(map) && number === undefined
          ? member(map, key)
          : undefined
    if (found !== undefined) return found
  }
  return number === undefined ? undefined : list.at(number)
}

/** Look up a key. Keys that are numbers or booleans match what YAML makes of the word. */
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

function isMapping(value: unknown): value is Readable {
  if (value instanceof Map) return true
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
