import { isJid } from '../base/jid.ts'
import { type Fields, isRecord } from '../base/record.ts'
import { keysUnder, type StoreChange, type StoreReader } from '../store/index.ts'
import { batchOf } from './batches.ts'
import { putIndex } from './job-index.ts'

/** The record under `['job', jid]`. It has no load while the jid is only reserved or only has returns. */
export interface JobRecord {
  readonly load?: Fields
  /** Ids of the minions the job is expected to run on. */
  readonly minions: readonly string[]
  /** Members of `minions` that the target may not match: the master lacks their grains or pillar. */
  readonly unknown?: readonly string[]
  /** Syndics that have not said yet which minions below them it is expected to run on. */
  readonly awaits?: readonly string[]
}

/** Value of an age record that marks a job as imported, whose missing returns are not reported. */
export const IMPORTED = 'taken'

export function readJob(records: Pick<StoreReader, 'get'>, jid: string): JobRecord | undefined {
  const job = records.get(['job', jid])
  if (!isRecord(job)) return undefined
  const { load, minions, unknown, awaits } = job
  return {
    ...(isRecord(load) && { load }),
    minions: Array.isArray(minions) ? minions.filter(isText) : [],
    ...(Array.isArray(unknown) && { unknown: unknown.filter(isText) }),
    ...(Array.isArray(awaits) && { awaits: awaits.filter(isText) }),
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Record a new jid, with its age. */
export function startJob(
  records: StoreChange,
  jid: string,
  now: number,
  how: true | typeof IMPORTED = true,
): void {
  records.put(['job', jid], { minions: [] })
  records.put(['age', now, jid], how)
}

/** Store a job, its index entries, and its place among the waves of its batch. */
export function putJob(records: StoreChange, jid: string, job: JobRecord & { readonly load: Fields }): void {
  records.put(['job', jid], job)
  putIndex(records, jid, job.load)
  const batch = batchOf(jid, job.load)
  // The batch must be a jid, since it is looked up as one.
  if (batch !== undefined && isJid(batch)) records.put(['wave', batch, jid], true)
}

/** Return the jids of the waves of a batch. */
export const wavesOf = (records: StoreReader, batch: string): string[] =>
  Array.from(records.keys(keysUnder('wave', batch)), (key) => String(key[2]))

export const unionOfIds = (first: readonly string[], second: readonly string[]): string[] => [
  ...new Set([...first, ...second]),
]
