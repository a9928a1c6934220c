/** The filters that Salt adds for lists and maps, and those of Python's `itertools`. */
import { stat } from 'node:fs/promises'
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
import { type CallArguments, typeOf } from '../values/objects.ts'
import { elements, isTrue } from '../values/sequences.ts'
import { strictText, text } from '../values/text.ts'
import { caseless, distinct, sortedBy, tuple } from './sorting.ts'

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
  is_empty: withoutArguments(isEmptyFile),
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
  zip: (value, { args }) => zipped([value, ...args], (lengths) => Math.min(...lengths)),
  zip_longest: (value, { args, kwargs }) =>
    zipped([value, ...args], (lengths) => Math.max(...lengths), kwargs.get('fillvalue') ?? null),
  product(value, { args, kwargs }) {
    const lists = [value, ...args].map(elements)
    const times = integer(kwargs.get('repeat') ?? 1)
    if (times > 100) throw new TemplateError(`more than ${MAX_RESULTS} results are refused`)
    if (times > 0 && lists.some((list) => list.length === 0)) return []
    return bounded(products(Array.from({ length: times }, () => lists).flat())).map(tuple)
  },
  combinations: (value, given) => bounded(combinations(elements(value), sizeOf(given))).map(tuple),
  permutations: (value, given) =>
    bounded(permutations(elements(value), sizeOf(given, elements(value).length))).map(tuple),
  compress: (value, given) => {
    const chosen = elements(bind({ selectors: REQUIRED }, given).selectors)
    return elements(value).filter((_, at) => at < chosen.length && isTrue(chosen[at]))
  },
}

/** Whether a file is there that has no content. */
async function isEmptyFile(path: unknown): Promise<boolean> {
  const found = await stat(strictText(path)).catch(() => undefined)
  return found?.size === 0
}

function flattened(value: unknown, levels: number, keepsNulls: boolean): unknown[] {
  return elements(value).flatMap((each) => {
    if (each === null) return keepsNulls ? [each] : []
    return Array.isArray(each) && levels >= 1 ? flattened(each, levels - 1, keepsNulls) : [each]
  })
}

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

function zipped(
  lists: readonly unknown[],
  length: (lengths: number[]) => number,
  filler: unknown = null,
): unknown[] {
  const all = lists.map(elements)
  const rows = length(all.map((each) => each.length))
  return Array.from({ length: rows }, (_, at) =>
    tuple(all.map((each) => (at < each.length ? each[at] : filler))),
  )
}

/** More results are refused. */
const MAX_RESULTS = 100_000

function bounded(results: Iterable<unknown[]>): unknown[][] {
  const all: unknown[][] = []
  for (const each of results) {
    if (all.length >= MAX_RESULTS) throw new TemplateError(`more than ${MAX_RESULTS} results are refused`)
    all.push(each)
  }
  return all
}

function sizeOf(given: CallArguments, fallback: unknown = REQUIRED): number {
  const size = integer(bind({ r: fallback }, given).r)
  if (size < 0) throw new TemplateError('r must be non-negative')
  return size
}

function* products([first, ...rest]: readonly (readonly unknown[])[]): Generator<unknown[]> {
  if (!first) return void (yield [])
  for (const each of first) for (const others of products(rest)) yield [each, ...others]
}

function* combinations(values: readonly unknown[], size: number): Generator<unknown[]> {
  if (size === 0) return void (yield [])
  if (size > values.length) return
  for (const [at, each] of values.entries())
    for (const others of combinations(values.slice(at + 1), size - 1)) yield [each, ...others]
}

function* permutations(values: readonly unknown[], size: number): Generator<unknown[]> {
  if (size === 0) return void (yield [])
  if (size > values.length) return
  for (const [at, each] of values.entries())
    for (const others of permutations(values.toSpliced(at, 1), size - 1)) yield [each, ...others]
}
