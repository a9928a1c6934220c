import { isRecord } from '../../base/record.ts'

/** A version vector: how often each master has changed a value, by the id of its replica. */
export type Version = Readonly<Record<string, number>>

/** `later`: made from the other version. `concurrent`: each has changes that the other lacks. */
export type VersionOrder = 'same' | 'earlier' | 'later' | 'concurrent'

/** Compare a version with another one. */
export function compareVersions(version: Version, other: Version): VersionOrder {
  const ids = Object.keys({ ...version, ...other })
  const hasMore = ids.some((id) => countOf(version, id) > countOf(other, id))
  const hasLess = ids.some((id) => countOf(version, id) < countOf(other, id))
  if (hasMore) return hasLess ? 'concurrent' : 'later'
  return hasLess ? 'earlier' : 'same'
}

/** Return the version that has the changes of both. */
export function joinVersions(one: Version, other: Version): Version {
  const ids = Object.keys({ ...one, ...other })
  return Object.fromEntries(ids.map((id) => [id, Math.max(countOf(one, id), countOf(other, id))]))
}

/** Return the version after one more change by a replica. */
export const nextVersion = (version: Version, id: string): Version => ({
  ...version,
  [id]: countOf(version, id) + 1,
})

/** Read a version: a map of at least one id to a count. Undefined if it is something else. */
export function readVersion(value: unknown): Version | undefined {
  if (!isRecord(value)) return undefined
  const counts = Object.entries(value)
  const isVersion = counts.length > 0 && counts.every(([, count]) => isCount(count))
  return isVersion ? (Object.fromEntries(counts) as Version) : undefined
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0

const countOf = (version: Version, id: string): number =>
  Object.hasOwn(version, id) ? Number(version[id]) : 0
