/** Turns the search parameters of `jobs.*`, which have Salt's names, into a query. */

import { type JobQuery, SaltInvocationError } from 'salt-ts'
import { MONTHS } from '#internal'

export interface Search {
  readonly search_metadata?: Readonly<Record<string, unknown>> | undefined
  readonly search_function?: unknown
  readonly search_target?: unknown
  readonly search_user?: unknown
  /** Dates, inclusive. */
  readonly start_time?: string | undefined
  readonly end_time?: string | undefined
  /** Job ids, exclusive. */
  readonly before?: unknown
  readonly after?: unknown
}

export function queryOf(search: Search): JobQuery {
  const since = search.start_time === undefined ? undefined : neighbour(stamp(search.start_time), -1n)
  const until = search.end_time === undefined ? undefined : neighbour(stamp(search.end_time), 1n)
  return {
    functions: patterns(search.search_function),
    targets: patterns(search.search_target),
    users: patterns(search.search_user),
    metadata: search.search_metadata,
    after: [since, jidOf('after', search.after)].filter(isGiven).sort().at(-1),
    before: [until, jidOf('before', search.before)].filter(isGiven).sort()[0],
  }
}

const isGiven = (text: string | undefined): text is string => text !== undefined

function patterns(given: unknown): string[] | undefined {
  if (given === undefined || given === null) return undefined
  return (Array.isArray(given) ? given : String(given).split(',')).map((pattern) => String(pattern).trim())
}

function jidOf(name: string, given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined
  if (!/^\d{20}/.test(String(given)))
    throw new SaltInvocationError(`${name}=${String(given)} is not a job id (20 digits).`)
  return String(given)
}

/** Rewrite a time as jobs show it (`2026, Nov 29 01:00:07.549657`), or without marks (`20261129`), as ISO 8601 writes it. */
function isoText(text: string): string {
  const [, year, month = '', day = '', rest = ''] =
    /^(\d{4}), ([A-Z][a-z]{2}) (\d{1,2})(.*)$/.exec(text) ?? /^(\d{4})(\d\d)(\d\d)( .*)?$/.exec(text) ?? []
  if (year === undefined) return text
  const number = MONTHS.includes(month) ? String(MONTHS.indexOf(month) + 1).padStart(2, '0') : month
  return `${year}-${number}-${day.padStart(2, '0')}${rest}`
}

/** Return the first jid of a moment. Dates without a zone are UTC, like jids. */
function stamp(given: string): string {
  const text = isoText(given.trim())
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(text)
    ? text
    : `${text.replace(' ', 'T')}${text.includes(':') ? 'Z' : ''}`
  const date = new Date(zoned)
  if (Number.isNaN(date.getTime())) {
    throw new SaltInvocationError(`'${given}' is not a date. Use the form 2026-11-21 or 2026-11-21 03:42:00.`)
  }
  return date.toISOString().replace(/\D/g, '').slice(0, 17).padEnd(20, '0')
}

/** Return the jid before or after another one. */
const neighbour = (jid: string, step: bigint): string => String(BigInt(jid) + step).padStart(20, '0')
