import type { MatchSubject } from '../author/kinds.ts'
import { closest } from '../base/closest.ts'

/** So many values are named at most, and so much of each. */
const NAMED = 5
const SHOWN = 40

/**
 * Why `key:sub:…:pattern` matches no minion: which key none has, or what the minions have there. Values of pillars are not
 * told: they may be secret.
 */
export function whyNoPath(
  parts: readonly string[],
  kind: 'grain' | 'pillar',
  subjects: Iterable<MatchSubject>,
): string {
  if (parts.length < 2) return noValue(parts.join(''), kind)
  const found = deepest(parts.slice(0, -1), kind, subjects)
  const path = parts.slice(0, found.depth).join(':')
  const noun = kind === 'grain' ? 'grain' : 'pillar key'
  const wanted = parts[found.depth] as string
  if (found.depth === 0) return `No minion has the ${noun} '${wanted}'.${meant(wanted, found.keys)}`
  if (found.depth < parts.length - 1)
    return `No minion has '${wanted}' below the ${noun} '${path}'.${meant(wanted, found.keys)}`
  const values = [...new Set([...found.keys, ...found.values])]
  if (kind === 'pillar' || values.length === 0)
    return `Minions have the ${noun} '${path}', but none with a value that matches '${wanted}'.`
  const more = values.length > NAMED ? ', …' : ''
  const named = values.slice(0, NAMED).map(shortened).join(', ')
  return `Minions have the ${noun} '${path}', but none with a value that matches '${wanted}': there is ${named}${more}.${OTHER_VERSION.get(path) ?? ''}`
}

/** Grains that are not what somebody who knows them from Salt looks for. */
const OTHER_VERSION: ReadonlyMap<string, string> = new Map(
  ['saltversion', 'saltversioninfo'].map((grain) => [
    grain,
    ' Minions of salt-ts have versions of their own; the grain saltcompat is the release of Salt whose behaviour they have.',
  ]),
)

/** Of a target that cannot mean anybody. */
export const noValue = (key: string, kind: 'grain' | 'pillar'): string =>
  `'${key}' has no value. Write key:value, as in ${kind === 'grain' ? 'os:Debian' : 'role:web'}.`

interface Deepest {
  /** So many keys of the path lead somewhere, on some minion. */
  readonly depth: number
  /** Keys that are there, on any minion that has so much of the path. */
  readonly keys: ReadonlySet<string>
  /** What else is there. */
  readonly values: ReadonlySet<string>
}

function deepest(
  path: readonly string[],
  kind: 'grain' | 'pillar',
  subjects: Iterable<MatchSubject>,
): Deepest {
  let depth = 0
  let [keys, values] = [new Set<string>(), new Set<string>()]
  for (const subject of subjects) {
    const own = follow((kind === 'grain' ? subject.grains : subject.pillar) ?? {}, path)
    if (own.depth < depth) continue
    if (own.depth > depth) [depth, keys, values] = [own.depth, new Set(), new Set()]
    for (const member of [own.value].flat()) {
      if (isMap(member)) for (const key of keysOf(member)) keys.add(key)
      else if (own.depth > 0) values.add(String(member))
    }
  }
  return { depth, keys, values }
}

/** How far a path leads, and what is there. */
function follow(data: unknown, path: readonly string[]): { readonly depth: number; readonly value: unknown } {
  let value = data
  for (const [depth, key] of path.entries()) {
    const next = [value].flat().map((map) => (isMap(map) ? memberOf(map, key) : undefined))
    const found = next.find((member) => member !== undefined)
    if (found === undefined) return { depth, value }
    value = found
  }
  return { depth: path.length, value }
}

type Readable = ReadonlyMap<unknown, unknown> | Readonly<Record<string, unknown>>

const isMap = (value: unknown): value is Readable =>
  value instanceof Map ||
  (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)

/** The names alone: `Object.keys` looks at every member too. */
const keysOf = (map: Readable): string[] =>
  map instanceof Map ? Array.from(map.keys(), String) : Object.getOwnPropertyNames(map)

function memberOf(map: Readable, key: string): unknown {
  if (map instanceof Map) return map.get(key)
  return Object.hasOwn(map, key) ? (map as Readonly<Record<string, unknown>>)[key] : undefined
}

function meant(word: string, candidates: Iterable<string>): string {
  const best = closest(word, candidates)
  return best === undefined ? '' : ` Did you mean '${shortened(best)}'?`
}

/** Values come from minions, which may send anything. */
function shortened(text: string): string {
  const safe = text.replace(/\p{C}/gu, '?')
  return safe.length > SHOWN ? `${safe.slice(0, SHOWN - 3)}...` : safe
}
