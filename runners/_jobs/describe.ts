/** Stored jobs in the words Salt's users know: Function, Arguments, Target, … */
import { fnmatch, jsonText, SaltInvocationError, type StoredReturn } from 'salt-ts'

type Load = Readonly<Record<string, unknown>>

export interface Search {
  readonly search_metadata?: Readonly<Record<string, unknown>> | undefined
  readonly search_function?: unknown
  readonly search_target?: unknown
  readonly start_time?: string | undefined
  readonly end_time?: string | undefined
}

export function describeJob(jid: string, load: Load): Record<string, unknown> {
  return {
    Arguments: load.arg ?? [],
    Function: load.fun ?? 'unknown-function',
    StartTime: startTime(jid),
    Target: load.tgt ?? 'unknown-target',
    'Target-type': load.tgt_type ?? 'list',
    User: load.user ?? 'root',
    ...(load.metadata === undefined ? {} : { Metadata: load.metadata }),
  }
}

export function describeResult({ return: value, retcode, success }: StoredReturn): Record<string, unknown> {
  return {
    return: value,
    ...(retcode !== undefined && { retcode }),
    ...(success !== undefined && { success }),
  }
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** When a job was started, by its jid: `2026, Nov 21 03:42:12.345678`, UTC. */
function startTime(jid: string): string {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{6})/.exec(jid)
  if (!parts) return ''
  const [, year, month, day, hours, minutes, seconds, fraction] = parts
  return `${year}, ${MONTHS[Number(month) - 1] ?? month} ${day} ${hours}:${minutes}:${seconds}.${fraction}`
}

/** True if a job is what was searched for; nothing asked for fits every job. */
export function matchesSearch(jid: string, load: Load, search: Search): boolean {
  return (
    matchesAny(load.fun, search.search_function) &&
    matchesAny(load.tgt, search.search_target) &&
    hasMetadata(load.metadata, search.search_metadata) &&
    (search.start_time === undefined || jid >= stamp(search.start_time)) &&
    (search.end_time === undefined || jid <= stamp(search.end_time))
  )
}

function matchesAny(value: unknown, patterns: unknown): boolean {
  if (patterns === undefined || patterns === null) return true
  const values = (Array.isArray(value) ? value : [value]).map(String)
  const wanted = (Array.isArray(patterns) ? patterns : [patterns]).map(String)
  return wanted.some((pattern) => values.some((one) => fnmatch(one, pattern)))
}

function hasMetadata(metadata: unknown, wanted: Search['search_metadata']): boolean {
  if (wanted === undefined) return true
  if (typeof metadata !== 'object' || metadata === null) return false
  return Object.entries(wanted).every(([key, value]) => jsonText((metadata as Load)[key]) === jsonText(value))
}

/** The first jid of a moment; dates without zone are UTC, as jids are. */
function stamp(text: string): string {
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(text.trim())
    ? text
    : `${text.trim().replace(' ', 'T')}${text.includes(':') ? 'Z' : ''}`
  const date = new Date(zoned)
  if (Number.isNaN(date.getTime())) {
    throw new SaltInvocationError(`'${text}' is not a date; write it as 2026-11-21 or 2026-11-21 03:42:00.`)
  }
  return date.toISOString().replace(/\D/g, '').slice(0, 17).padEnd(20, '0')
}
