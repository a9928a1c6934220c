import { entriesOf, isMapping, type Mapping } from './traverse.ts'

/**
 * `over` on top of `base`, maps merged in depth; lists replace each other, or are joined without doubles. Neither
 * is changed.
 */
export function mergeDeep(base: Mapping, over: Mapping, { lists = false } = {}): Record<string, unknown> {
  const merged = new Map(entriesOf(base))
  for (const [key, value] of entriesOf(over)) {
    const below = merged.get(key)
    if (isMapping(below) && isMapping(value)) merged.set(key, mergeDeep(below, value, { lists }))
    else if (lists && Array.isArray(below) && Array.isArray(value)) merged.set(key, joined(below, value))
    else merged.set(key, value)
  }
  return Object.fromEntries(merged)
}

function joined(below: readonly unknown[], more: readonly unknown[]): unknown[] {
  return [...below, ...more.filter((value) => !below.some((known) => sameValue(known, value)))]
}

/** Equal as values: numbers, texts, lists and maps by what they hold, whatever the order of keys. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (a instanceof Number || b instanceof Number) return Number(a) === Number(b)
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value, index) => sameValue(value, b[index]))
  }
  if (!isMapping(a) || !isMapping(b)) return false
  const others = new Map(entriesOf(b))
  const pairs = entriesOf(a)
  return (
    pairs.length === others.size &&
    pairs.every(([key, value]) => others.has(key) && sameValue(value, others.get(key)))
  )
}
