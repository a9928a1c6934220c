import type { JobQuery } from '../author/master.ts'
import type { Fields } from '../base/record.ts'
import { fnmatch } from '../dialect/fnmatch.ts'
import { jsonText, valueText } from '../dialect/json.ts'

/** Fields of a load by which jobs are searched, and their names in a query. */
export const SEARCH_FIELDS = { fun: 'functions', tgt: 'targets', user: 'users' } as const
export type SearchedField = keyof typeof SEARCH_FIELDS

/** Return true if a job matches a query, apart from `limit`. An empty query matches every job. */
export function matchesQuery(jid: string, load: Fields, query: JobQuery): boolean {
  const { before, after, metadata } = query
  return (
    (before === undefined || jid < before) &&
    (after === undefined || jid > after) &&
    fields.every((field) => matchesAny(load[field], query[SEARCH_FIELDS[field]])) &&
    hasMetadata(load.metadata, metadata)
  )
}

const fields = Object.keys(SEARCH_FIELDS) as SearchedField[]

function matchesAny(value: unknown, patterns: readonly string[] | undefined): boolean {
  if (patterns === undefined) return true
  const values = [value].flat().map(valueText)
  return patterns.some((pattern) => values.some((one) => fnmatch(one, pattern)))
}

function hasMetadata(metadata: unknown, wanted: JobQuery['metadata']): boolean {
  if (wanted === undefined) return true
  if (typeof metadata !== 'object' || metadata === null) return false
  return Object.entries(wanted).every(
    ([key, value]) => jsonText((metadata as Fields)[key]) === jsonText(value),
  )
}
