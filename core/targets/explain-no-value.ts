import type { MatchSubject } from '../author/kinds.ts'
import { closest } from '../base/closest.ts'
import { isMapping, type Mapping } from '../base/record.ts'

/** Maximum number of values in a sentence. */
const NAMED = 5
/** Maximum number of characters of each value. */
const SHOWN = 40

/**
 * Explain why `key:sub:…:pattern` matches no minion: name the key that is missing, or the values that minions have. Values of pillars
 * are not shown, since they may be secret.
 */
export function explainNoValue(
  parts: readonly string[],
  kind: 'grain' | 'pillar',
  subjects: Iterable<MatchSubject>,
): string {
  if (parts.length < 2) return missingValueText(parts.join(''), kind)
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
  return `Minions have the ${noun} '${path}', but none with a value that matches '${wanted}'. They have: ${named}${more}.${OTHER_VERSION.get(path) ?? ''}`
}

/** Hints for grains whose values differ from those of Salt. */
const OTHER_VERSION: ReadonlyMap<string, string> = new Map(
  ['saltversion', 'saltversioninfo'].map((grain) => [
    grain,
    ' Versions of salt-ts differ from those of Salt; the grain saltcompat is the Salt release that a minion is compatible with.',
  ]),
)

/** Return the text for a target without a value, which matches no minion. */
export const missingValueText = (key: string, kind: 'grain' | 'pillar'): string =>
  `'${key}' has no value. Write key:value, as in ${kind === 'grain' ? 'os:Debian' : 'role:web'}.`

interface Deepest {
  /** Number of leading keys of the path that exist on at least one minion. */
  readonly depth: number
  /** Keys that minions have at that depth. */
  readonly keys: ReadonlySet<string>
  /** Other values that minions have at that depth. */
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
    const found = follow((kind === 'grain' ? subject.grains : subject.pillar) ?? {}, path)
    if (found.depth < depth) continue
    if (found.depth > depth) [depth, keys, values] = [found.depth, new Set(), new Set()]
    for (const member of [found.value].flat()) {
      if (isMapping(member)) for (const key of keysOf(member)) keys.add(key)
      else if (found.depth > 0) values.add(String(member))
    }
  }
  return { depth, keys, values }
}

/** Follow a path as far as it exists. Return its depth and the value found. */
function follow(data: unknown, path: readonly string[]): { readonly depth: number; readonly value: unknown } {
  let value = data
  for (const [depth, key] of path.entries()) {
    const next = [value].flat().map((map) => (isMapping(map) ? memberOf(map, key) : undefined))
    const found = next.find((member) => member !== undefined)
    if (found === undefined) return { depth, value }
    value = found
  }
  return { depth: path.length, value }
}

/** Return the keys of a map. `Object.keys` would decode every member of a lazy map. */
const keysOf = (map: Mapping): string[] =>
  map instanceof Map ? Array.from(map.keys(), String) : Object.getOwnPropertyNames(map)

function memberOf(map: Mapping, key: string): unknown {
  if (map instanceof Map) return map.get(key)
  return Object.hasOwn(map, key) ? (map as Readonly<Record<string, unknown>>)[key] : undefined
}

function meant(word: string, candidates: Iterable<string>): string {
  const best = closest(word, candidates)
  return best === undefined ? '' : ` Did you mean '${shortened(best)}'?`
}

/** Make a value safe to print, since minions may send anything. */
function shortened(text: string): string {
  const safe = text.replace(/\p{C}/gu, '?')
  return safe.length > SHOWN ? `${safe.slice(0, SHOWN - 3)}...` : safe
}
