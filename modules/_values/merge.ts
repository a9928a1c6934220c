import { entriesOf, isMapping, type Mapping } from './traverse.ts'

/**
 * Merge `over` into a copy of `base`, maps recursively. A list replaces the one below it; with `lists` both are joined,
 * without duplicates.
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

/** Whether two values are equal. Lists and maps are compared by content, regardless of the order of keys. */
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
