/** The filters that Salt adds for lists, as in Python's `itertools`. */
import { Tuple } from '../../_values/tuple.ts'
import type { Filter } from '../environment.ts'
import { TemplateError } from '../errors.ts'
import { bind, REQUIRED } from '../values/arguments.ts'
import { integer } from '../values/numbers.ts'
import type { CallArguments } from '../values/objects.ts'
import { elements, isTrue } from '../values/sequences.ts'

export const itertoolsFilters: Readonly<Record<string, Filter>> = {
  zip: (value, { args }) => zipped([value, ...args], (lengths) => Math.min(...lengths)),
  zip_longest: (value, { args, kwargs }) =>
    zipped([value, ...args], (lengths) => Math.max(...lengths), kwargs.get('fillvalue') ?? null),
  product(value, { args, kwargs }) {
    const lists = [value, ...args].map(elements)
    const times = integer(kwargs.get('repeat') ?? 1)
    if (times > 100) throw new TemplateError(`more than ${MAX_RESULTS} results are refused`)
    if (times > 0 && lists.some((list) => list.length === 0)) return []
    return limited(products(Array.from({ length: times }, () => lists).flat()))
  },
  combinations: (value, given) => limited(combinations(elements(value), resultSize(given))),
  permutations: (value, given) =>
    limited(permutations(elements(value), resultSize(given, elements(value).length))),
  compress: (value, given) => {
    const chosen = elements(bind({ selectors: REQUIRED }, given).selectors)
    return elements(value).filter((_, at) => at < chosen.length && isTrue(chosen[at]))
  },
}

function zipped(
  lists: readonly unknown[],
  length: (lengths: number[]) => number,
  filler: unknown = null,
): unknown[] {
  const all = lists.map(elements)
  const rows = length(all.map((each) => each.length))
  return Array.from({ length: rows }, (_, at) =>
    Tuple.from(all.map((each) => (at < each.length ? each[at] : filler))),
  )
}

/** More results are refused. */
const MAX_RESULTS = 100_000

/** Return the results as tuples. @throws TemplateError if there are too many */
function limited(results: Iterable<unknown[]>): Tuple[] {
  const all: Tuple[] = []
  for (const each of results) {
    if (all.length >= MAX_RESULTS) throw new TemplateError(`more than ${MAX_RESULTS} results are refused`)
    all.push(Tuple.from(each))
  }
  return all
}

function resultSize(given: CallArguments, fallback: unknown = REQUIRED): number {
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
