/** What several filters need. */
import { isMapping } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import { compare } from '../values/compare.ts'
import { entries } from '../values/dicts.ts'
import { attribute, item } from '../values/lookup.ts'
import { Members } from '../values/members.ts'
import { Undefined } from '../values/objects.ts'
import { text } from '../values/text.ts'

/** Return a reader of an attribute: `a.b.0`, or an index. */
export function attributeReader(path: unknown): (value: unknown) => unknown {
  const steps =
    typeof path === 'string'
      ? path.split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))
      : [path]
  return (value) =>
    steps.reduce((inner, step) => {
      const own = typeof step === 'string' && !Array.isArray(inner) ? item(inner, step) : undefined
      if (own !== undefined && !(own instanceof Undefined)) return own
      return typeof step === 'string' ? attribute(inner, step) : item(inner, step)
    }, value)
}

/** Text in lower case, so that it is compared without regard to case. */
export const caseless = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value)

/** Sort by keys, keeping the order of equal ones. */
export function sortedBy(
  values: readonly unknown[],
  keyOf: (value: unknown) => unknown,
  isReversed: boolean,
): unknown[] {
  const keyed = values.map((value) => [keyOf(value), value] as const)
  keyed.sort(([a], [b]) => (isReversed ? compare(b, a) : compare(a, b)))
  return keyed.map(([, value]) => value)
}

/** Remove elements that are equal to one before them. */
export function distinct(values: readonly unknown[]): unknown[] {
  const seen = new Members()
  return values.filter((value) => {
    const isNew = !seen.has(value)
    if (isNew) seen.add(value)
    return isNew
  })
}

export const tuple = (values: readonly unknown[]): Tuple => Tuple.from(values)

/** Sort the keys of maps, as Python's `pprint` does. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value instanceof Tuple ? Tuple.from(value.map(sorted)) : value.map(sorted)
  if (!isMapping(value)) return value
  const pairs = entries(value).map(([key, inner]) => [key, sorted(inner)] as const)
  return new Map(pairs.sort(([a], [b]) => (text(a) < text(b) ? -1 : 1)))
}
