import type { JobQuery } from '../author/master.ts'
import type { Fields } from '../base/record.ts'
import { fnmatch } from '../dialect/fnmatch.ts'
import { type KeyRange, keysUnder, type StoreChange, type StoreReader, startingWith } from '../store/index.ts'
import { SEARCH_FIELDS, type SearchedField } from './job-query.ts'

/**
 * Index of jobs by function, target and user: `['by', field, value, jid]`. A value that is not a short text (a list of minions,
 * many functions) is filed under {@link OTHER}, which is read with every value. `['indexed']` marks the index as complete.
 */
const OTHER = ''
const MAX_VALUE_LENGTH = 200
const MAX_FUNCTIONS = 10
/** If more values than this match, all jobs are read instead. */
const MAX_VALUES = 100
/** Number of ids by which the field with the fewest matches is estimated. */
const SAMPLE = 100

const fields = Object.keys(SEARCH_FIELDS) as SearchedField[]

export function putIndex(records: StoreChange, jid: string, load: Fields): void {
  for (const key of indexKeys(jid, load)) records.put(key, true)
}

export function removeIndex(records: StoreChange, jid: string, load: Fields): void {
  for (const key of indexKeys(jid, load)) records.remove(key)
}

const indexKeys = (jid: string, load: Fields): string[][] =>
  fields.flatMap((field) => valuesOf(load[field]).map((value) => ['by', field, value, jid]))

function valuesOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value]
  const short = values.every(
    (one) => typeof one === 'string' && one.length <= MAX_VALUE_LENGTH && !/[\0\u{10ffff}]/u.test(one),
  )
  return short && values.length <= MAX_FUNCTIONS ? [...new Set(values as string[])] : [OTHER]
}

/**
 * List ids of jobs that may match a query, greatest first: from the field with the fewest matches, else all ids. The caller
 * must check each, since some do not match and some are not jobs.
 */
export function* jidCandidates(records: StoreReader, query: JobQuery): Generator<string> {
  const streams = isIndexed(records) ? fields.flatMap((field) => streamsOf(records, field, query)) : []
  const all = () => idsIn(records, within(['job'], query))
  yield* fewest(streams.length > 0 ? streams : [all])()
}

export const isIndexed = (records: StoreReader): boolean =>
  records.has(['indexed']) && !records.has(['salvaged'])

type Stream = () => Generator<string>

function streamsOf(records: StoreReader, field: SearchedField, query: JobQuery): Stream[] {
  const patterns = query[SEARCH_FIELDS[field]]
  const values = patterns && matchingValues(records, field, patterns)
  if (!values) return []
  return [() => merged(values.map((value) => idsIn(records, within(['by', field, value], query))))]
}

/** Find the indexed values that match the patterns. Return undefined if there are too many. */
function matchingValues(
  records: StoreReader,
  field: SearchedField,
  patterns: readonly string[],
): string[] | undefined {
  const found = new Set([OTHER])
  for (const pattern of patterns) {
    const [start = ''] = pattern.split(/[*?[]/, 1)
    if (start === pattern) found.add(pattern)
    else {
      let count = 0
      for (const value of valuesFrom(records, field, start)) {
        if (count++ === MAX_VALUES) return undefined
        if (fnmatch(value, pattern)) found.add(value)
      }
    }
  }
  return found.size > MAX_VALUES ? undefined : [...found]
}

/** List the distinct values that begin with `start`, with one look-up for each. */
function* valuesFrom(records: StoreReader, field: string, start: string): Generator<string> {
  const { from: first, to } = startingWith(['by', field], start)
  let from = first
  for (;;) {
    const [key] = records.keys({ from, to })
    if (!key) return
    const value = String(key[2])
    yield value
    from = keysUnder('by', field, value).to
  }
}

const within = (prefix: string[], { before, after }: JobQuery): KeyRange => {
  const all = keysUnder(...prefix)
  return {
    from: after === undefined ? all.from : [...prefix, after],
    to: before === undefined ? all.to : [...prefix, before],
  }
}

function* idsIn(records: StoreReader, range: KeyRange): Generator<string> {
  for (const key of records.keys(range, { reverse: true })) yield String(key.at(-1))
}

/** Merge sorted ids, greatest first, without duplicates. */
function* merged(sources: readonly Generator<string>[]): Generator<string> {
  const heads = sources.map((source) => source.next())
  for (;;) {
    const open = heads.filter(({ done }) => !done).map(({ value }) => value as string)
    if (open.length === 0) return
    const greatest = open.sort().at(-1) as string
    yield greatest
    for (const [n, head] of heads.entries())
      if (!head.done && head.value === greatest) heads[n] = (sources[n] as Generator<string>).next()
  }
}

/** Return the stream that ends first, or whose first ids reach furthest back. */
function fewest(streams: readonly Stream[]): Stream {
  if (streams.length === 1) return streams[0] as Stream
  const samples = streams.map((stream) => {
    const ids = [...firstOf(stream(), SAMPLE)]
    return { stream, reach: ids.length < SAMPLE ? '' : (ids.at(-1) as string), count: ids.length }
  })
  samples.sort((one, other) => compare(one.reach, other.reach) || one.count - other.count)
  return (samples[0] as { stream: Stream }).stream
}

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other))

function* firstOf<T>(all: Iterable<T>, count: number): Generator<T> {
  let left = count
  for (const one of all) {
    yield one
    if (--left === 0) return
  }
}
