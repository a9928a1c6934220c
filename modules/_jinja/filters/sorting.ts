/** Sorts elements, and finds equal ones. */
import { compare } from '../values/compare.ts'
import { Members } from '../values/members.ts'

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
