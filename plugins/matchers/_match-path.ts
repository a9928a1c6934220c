/**
 * `key:sub:…:pattern` against nested data (wire protocol §15). Where the key ends and the pattern begins is not
 * marked, so every delimiter is tried as that point, the longest key first.
 */
import type { Verdict } from 'salt-ts'

type LeafTest = (text: string) => boolean

/** Not decidable without data; false for an expression without delimiter. `compile` makes the test of a pattern. */
export function matchPath(
  data: Readonly<Record<string, unknown>> | undefined,
  expression: unknown,
  delimiter: string,
  compile: (pattern: string) => LeafTest,
): Verdict {
  if (data === undefined) return 'unknown'
  return typeof expression === 'string' && matchIn(data, expression.split(delimiter), delimiter, compile)
}

function matchIn(
  data: unknown,
  parts: string[],
  delimiter: string,
  compile: (pattern: string) => LeafTest,
): boolean {
  if (parts.length > 1 && parts[0] === '*' && isMap(data)) return matchMap(data, parts, delimiter, compile)
  for (let split = parts.length - 1; split > 0; split--) {
    const found = descend(data, parts.slice(0, split))
    const rest = parts.slice(split)
    if (found !== undefined && matchFound(found, rest, delimiter, compile)) return true
  }
  return false
}

function matchFound(
  found: unknown,
  rest: string[],
  delimiter: string,
  compile: (pattern: string) => LeafTest,
): boolean {
  if (isMap(found)) return matchMap(found, rest, delimiter, compile)
  const matches = compile(rest.join(delimiter))
  if (!Array.isArray(found)) return matches(textOf(found))
  return found.some((member) =>
    isMap(member) ? matchMap(member, rest, delimiter, compile) : matches(textOf(member)),
  )
}

/** A map matches by one of its keys (`*`: by having any), or by what lies further down. `*:x` looks at every value. */
function matchMap(
  map: Readable,
  rest: string[],
  delimiter: string,
  compile: (pattern: string) => LeafTest,
): boolean {
  if (sizeOf(map) === 0) return false
  const pattern = rest.join(delimiter)
  if (pattern === '*' || member(map, pattern) !== undefined) return true
  if (rest.length > 1 && rest[0] === '*') {
    return valuesOf(map).some((value) => matchFound(value, rest.slice(1), delimiter, compile))
  }
  return matchIn(map, rest, delimiter, compile)
}

/** The value at a path; in a list, a number is an index and a name looks into the maps of the list. */
function descend(data: unknown, path: readonly string[]): unknown {
  let here = data
  for (const key of path) {
    if (isMap(here)) here = member(here, key)
    else if (Array.isArray(here))
      here =
        here
          .filter(isMap)
          .map((map) => member(map, key))
          .find(isDefined) ?? at(here, key)
    else return undefined
  }
  return here
}

type Readable = ReadonlyMap<unknown, unknown> | Readonly<Record<string, unknown>>

const isDefined = (value: unknown): boolean => value !== undefined
const at = (list: readonly unknown[], key: string): unknown =>
  /^-?\d+$/.test(key) ? list.at(Number(key)) : undefined
const sizeOf = (map: Readable): number => (map instanceof Map ? map.size : Object.keys(map).length)
const valuesOf = (map: Readable): unknown[] => (map instanceof Map ? [...map.values()] : Object.values(map))

function member(map: Readable, key: string): unknown {
  if (map instanceof Map) return map.get(key)
  return Object.hasOwn(map, key) ? (map as Readonly<Record<string, unknown>>)[key] : undefined
}

function isMap(value: unknown): value is Readable {
  if (value instanceof Map) return true
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** How Python writes a value that is not a container: patterns are written for that. */
function textOf(value: unknown): string {
  if (value === null) return 'None'
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value instanceof Number && Number.isInteger(value.valueOf())) return value.valueOf().toFixed(1)
  return String(value)
}
