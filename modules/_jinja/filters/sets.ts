/** The filters that Salt adds for lists and maps. */
import { isMapping } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import type { Filter } from '../environment.ts'
import { TemplateError } from '../errors.ts'
import { bind, REQUIRED, withoutArguments } from '../values/arguments.ts'
import { binary } from '../values/arithmetic.ts'
import { compare } from '../values/compare.ts'
import { entries, getKey, hasKey, isEqual } from '../values/dicts.ts'
import { Members } from '../values/members.ts'
import { float, integer } from '../values/numbers.ts'
import { typeOf } from '../values/objects.ts'
import { elements, isTrue } from '../values/sequences.ts'
import { text } from '../values/text.ts'
import { caseless, distinct, sortedBy } from './sorting.ts'

const ofTwo =
  (combine: (first: readonly unknown[], second: readonly unknown[]) => unknown): Filter =>
  (value, given) => {
    const { lst2 } = bind({ lst2: REQUIRED }, given)
    return combine(elements(value), elements(lst2))
  }

const common = (values: readonly unknown[], others: readonly unknown[]): unknown[] => {
  const members = new Members(others)
  return values.filter((each) => members.has(each))
}
const without = (values: readonly unknown[], others: readonly unknown[]): unknown[] => {
  const members = new Members(others)
  return values.filter((each) => !members.has(each))
}

const extreme = (name: string, isBetter: (order: number) => boolean): Filter =>
  withoutArguments((value) => {
    const all = elements(value)
    if (all.length === 0) throw new TemplateError(`${name}() arg is an empty sequence`)
    return all.reduce((best, each) => (isBetter(compare(each, best)) ? each : best))
  })

export const setFilters: Readonly<Record<string, Filter>> = {
  // `unique`, `min` and `max` of Salt replace those of Jinja.
  unique: withoutArguments((value) => distinct(elements(value))),
  min: extreme('min', (order) => order < 0),
  max: extreme('max', (order) => order > 0),
  avg: withoutArguments((value) => {
    if (!Array.isArray(value)) return float(Number(value))
    if (value.length === 0) throw new TemplateError('division by zero')
    return float(Number(value.reduce((all, each) => binary('+', all, each), 0)) / value.length)
  }),
  union: ofTwo((first, second) => distinct([...first, ...second])),
  intersect: ofTwo((first, second) => distinct(common(first, second))),
  difference: ofTwo((first, second) => distinct(without(first, second))),
  symmetric_difference: ofTwo((first, second) =>
    distinct([...without(first, second), ...without(second, first)]),
  ),
  sequence: withoutArguments((value) => (Array.isArray(value) || isMapping(value) ? value : [value])),
  is_list: withoutArguments((value) => Array.isArray(value) && !(value instanceof Tuple)),
  is_iter: (value) => Array.isArray(value) || isMapping(value),
  sorted_ignorecase: withoutArguments((value) => sortedBy(elements(value), caseless, false)),
  substring_in_list: (value, given) =>
    elements(bind({ lst: REQUIRED }, given).lst).some((each) => text(each).includes(text(value))),
  exactly_one_true: withoutArguments((value) => elements(value).filter(isTrue).length === 1),
  exactly_n_true: (value, given) =>
    elements(value).filter(isTrue).length === integer(bind({ amount: 1 }, given).amount),
  flatten(value, given) {
    const { levels, preserve_nulls } = bind({ levels: null, preserve_nulls: false }, given)
    return flattened(
      value,
      levels === null ? Number.POSITIVE_INFINITY : integer(levels),
      isTrue(preserve_nulls),
    )
  },
  /** `new` has the elements that only the other list has, `old` those that only this one has; what is empty is left out. */
  compare_lists: (value, given) => {
    const fresh = elements(bind({ new: REQUIRED }, given).new)
    const old = elements(value)
    const [added, removed] = [without(fresh, old), without(old, fresh)]
    return { ...(added.length > 0 && { new: added }), ...(removed.length > 0 && { old: removed }) }
  },
  compare_dicts: (value, given) => changes(value, bind({ new: REQUIRED }, given).new),
  random_sample(value, given) {
    const { size } = bind({ size: REQUIRED, seed: null }, given)
    return shuffled(elements(value)).slice(0, integer(size))
  },
  random_shuffle(value, given) {
    bind({ seed: null }, given)
    return shuffled(elements(value))
  },
}

function flattened(value: unknown, levels: number, keepsNulls: boolean): unknown[] {
  return elements(value).flatMap((each) => {
    if (each === null) return keepsNulls ? [each] : []
    return Array.isArray(each) && levels >= 1 ? flattened(each, levels - 1, keepsNulls) : [each]
  })
}

/** For each key whose values differ, both values; an empty text for one that is not there. */
function changes(old: unknown, fresh: unknown): Map<unknown, unknown> {
  if (!isMapping(old) || !isMapping(fresh))
    throw new TemplateError(`compare_dicts takes maps, not '${typeOf(isMapping(old) ? fresh : old)}'`)
  const keys = new Set([...entries(fresh), ...entries(old)].map(([key]) => key))
  const changed = new Map<unknown, unknown>()
  for (const key of keys) {
    const [before, after] = [
      hasKey(old, key) ? getKey(old, key) : '',
      hasKey(fresh, key) ? getKey(fresh, key) : '',
    ]
    if (!hasKey(old, key) || !hasKey(fresh, key) || !isEqual(before, after))
      changed.set(
        key,
        new Map([
          ['old', before],
          ['new', after],
        ]),
      )
  }
  return changed
}

const shuffled = (values: readonly unknown[]): unknown[] =>
  values
    .map((value) => [Math.random(), value] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value)
