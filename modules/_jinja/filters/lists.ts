/** The filters of Jinja for lists and maps. */
import { isMapping } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import type { Environment, Filter } from '../environment.ts'
import { TemplateError, TemplateSyntaxError } from '../errors.ts'
import { bind, REQUIRED, withoutArguments } from '../values/arguments.ts'
import { binary } from '../values/arithmetic.ts'
import { entries, isEqual } from '../values/dicts.ts'
import { checkLength } from '../values/limits.ts'
import { ownAttribute } from '../values/lookup.ts'
import { integer } from '../values/numbers.ts'
import { type CallArguments, Group, nothingGiven, Undefined } from '../values/objects.ts'
import { elements, isTrue, lengthOf } from '../values/sequences.ts'
import { text } from '../values/text.ts'
import { attributeReader } from './attribute.ts'
import { caseless, sortedBy } from './sorting.ts'

const identity = (value: unknown): unknown => value
const readerOf = (path: unknown) => (path === null ? identity : attributeReader(path))

/** What values are compared by: an attribute, and texts without regard to case unless that is asked for. */
const keyReader = (path: unknown, caseSensitive: unknown) => {
  const read = readerOf(path)
  return isTrue(caseSensitive) ? read : (value: unknown) => caseless(read(value))
}

/** Text in lower case by several attributes: `a,b`. */
function sortKey(path: unknown, caseSensitive: unknown): (value: unknown) => unknown {
  if (typeof path !== 'string' || !path.includes(',')) return keyReader(path, caseSensitive)
  const readers = path.split(',').map((each) => keyReader(each.trim(), caseSensitive))
  return (value) => readers.map((read) => read(value))
}

/** An element, or what is undefined if there is none. None is an element, too. */
const oneOf = (which: string, place: (length: number) => number): Filter =>
  withoutArguments((value) => {
    const all = elements(value)
    return all.length > 0 ? all[place(all.length)] : new Undefined(`No ${which} item, sequence was empty.`)
  })

export const listFilters: Readonly<Record<string, Filter>> = {
  default: orDefault,
  d: orDefault,
  length: withoutArguments(lengthOf),
  count: withoutArguments(lengthOf),
  list: withoutArguments((value) => [...elements(value)]),
  first: oneOf('first', () => 0),
  last: oneOf('last', (length) => length - 1),
  random: oneOf('random', (length) => Math.floor(Math.random() * length)),
  reverse: withoutArguments((value) =>
    typeof value === 'string' ? [...value].reverse().join('') : [...elements(value)].reverse(),
  ),
  join(value, given) {
    const { d, attribute: path } = bind({ d: '', attribute: null }, given)
    return elements(value).map(readerOf(path)).map(text).join(text(d))
  },
  sort(value, given) {
    const {
      reverse,
      case_sensitive,
      attribute: path,
    } = bind({ reverse: false, case_sensitive: false, attribute: null }, given)
    return sortedBy(elements(value), sortKey(path, case_sensitive), isTrue(reverse))
  },
  sum(value, given) {
    const { attribute: path, start } = bind({ attribute: null, start: 0 }, given)
    return elements(value)
      .map(readerOf(path))
      .reduce((all, each) => binary('+', all, each), start)
  },
  batch: (value, given) => batches(value, given),
  slice: slices,
  dictsort(value, given) {
    const { case_sensitive, by, reverse } = bind({ case_sensitive: false, by: 'key', reverse: false }, given)
    if (!isMapping(value)) throw new TemplateError('dictsort takes a map')
    if (by !== 'key' && by !== 'value')
      throw new TemplateError('You can only sort by either "key" or "value"')
    const key = keyReader(by === 'key' ? 0 : 1, case_sensitive)
    return sortedBy(
      entries(value).map((pair) => Tuple.of(...pair)),
      key,
      isTrue(reverse),
    )
  },
  items: withoutArguments((value) => {
    if (value instanceof Undefined) return []
    if (!isMapping(value)) throw new TemplateError('Can only get item pairs from a mapping.')
    return entries(value).map((pair) => Tuple.of(...pair))
  }),
  groupby,
  attr: (value, given) => ownAttribute(value, text(bind({ name: REQUIRED }, given).name)),
  map: mapped,
  select: (value, given, environment) =>
    chosen(value, given, environment, { byAttribute: false, keeps: true }),
  reject: (value, given, environment) =>
    chosen(value, given, environment, { byAttribute: false, keeps: false }),
  selectattr: (value, given, environment) =>
    chosen(value, given, environment, { byAttribute: true, keeps: true }),
  rejectattr: (value, given, environment) =>
    chosen(value, given, environment, { byAttribute: true, keeps: false }),
}

function orDefault(value: unknown, given: CallArguments): unknown {
  const { default_value, boolean } = bind({ default_value: '', boolean: false }, given)
  if (value instanceof Undefined) return default_value
  return isTrue(boolean) && !isTrue(value) ? default_value : value
}

function batches(value: unknown, given: CallArguments): unknown[] {
  const { linecount, fill_with } = bind({ linecount: REQUIRED, fill_with: null }, given)
  const size = integer(linecount)
  if (size < 1) throw new TemplateError('batch takes a size of at least 1')
  const all = elements(value)
  const rows = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  )
  const last = rows.at(-1)
  if (last && fill_with !== null) {
    checkLength(size)
    while (last.length < size) last.push(fill_with)
  }
  return rows
}

function slices(value: unknown, given: CallArguments): unknown[] {
  const { slices: count, fill_with } = bind({ slices: REQUIRED, fill_with: null }, given)
  const columns = integer(count)
  if (checkLength(columns) < 1) throw new TemplateError('slice takes a number of at least 1')
  const all = elements(value)
  const size = Math.floor(all.length / columns)
  const more = all.length % columns
  let at = 0
  return Array.from({ length: columns }, (_, column) => {
    const part = all.slice(at, at + size + (column < more ? 1 : 0))
    at += part.length
    if (fill_with !== null && column >= more) part.push(fill_with)
    return part
  })
}

function groupby(value: unknown, given: CallArguments): unknown[] {
  const {
    attribute: path,
    default: fallback,
    case_sensitive,
  } = bind({ attribute: REQUIRED, default: null, case_sensitive: false }, given)
  const read = attributeReader(path)
  const keyOf = (each: unknown) => {
    const found = read(each)
    return found instanceof Undefined && fallback !== null ? fallback : found
  }
  const shown = isTrue(case_sensitive) ? keyOf : (each: unknown) => caseless(keyOf(each))
  const groups: { key: unknown; list: unknown[] }[] = []
  for (const each of sortedBy(elements(value), shown, false)) {
    const last = groups.at(-1)
    if (last && isEqual(shown(last.list[0]), shown(each))) last.list.push(each)
    else groups.push({ key: keyOf(each), list: [each] })
  }
  return groups.map(({ key, list }) => Group.of(key, list))
}

/** `map('filter', …)` or `map(attribute='name')`. */
async function mapped(value: unknown, given: CallArguments, environment: Environment): Promise<unknown[]> {
  const { args, kwargs } = given
  const all = elements(value)
  if (args.length === 0) {
    const { attribute: path, default: fallback } = bind({ attribute: REQUIRED, default: null }, given)
    const read = attributeReader(path)
    const found = all.map(read)
    return fallback === null ? found : found.map((each) => (each instanceof Undefined ? fallback : each))
  }
  const [name, ...rest] = args
  const filter = environment.filters.get(text(name))
  if (!filter) throw new TemplateSyntaxError(`No filter named '${text(name)}'.`)
  const results: unknown[] = []
  for (const each of all)
    results.push(await filter(each, { name: text(name), args: rest, kwargs }, environment))
  return results
}

/** Choose elements by a test, or by whether they are true. */
async function chosen(
  value: unknown,
  { args, kwargs }: CallArguments,
  environment: Environment,
  { byAttribute, keeps }: { byAttribute: boolean; keeps: boolean },
): Promise<unknown[]> {
  if (byAttribute && args.length === 0) throw new TemplateError('Missing parameter for attribute name')
  const read = byAttribute ? attributeReader(args[0]) : identity
  const [name, ...rest] = byAttribute ? args.slice(1) : args
  const test = name === undefined ? isTrue : environment.tests.get(text(name))
  if (!test) throw new TemplateSyntaxError(`No test named '${text(name)}'.`)
  const given = { name: text(name ?? ''), ...(name === undefined ? nothingGiven : { args: rest, kwargs }) }
  const kept: unknown[] = []
  for (const each of elements(value))
    if ((await test(read(each), given, environment)) === keeps) kept.push(each)
  return kept
}
