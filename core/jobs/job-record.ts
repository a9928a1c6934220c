import { type StoreChange, type StoreReader, under } from '../store/index.ts'
import { batchOf } from './batches.ts'
import { isJid } from './jid.ts'
import { putIndex } from './job-index.ts'
import { type Fields, isFields } from './records.ts'

/** What stands under `['job', jid]`: no load while the jid is only reserved, or only has returns. */
export interface JobRecord {
  readonly load?: Fields
  /** Ids of the minions the job is expected to run on. */
  readonly minions: readonly string[]
  /** Which of them are perhaps not meant, if any. */
  readonly unknown?: readonly string[]
}

/** In the record of its age: of a job that was imported there is nothing to tell. */
export const IMPORTED = 'taken'

export function readJob(records: Pick<StoreReader, 'get'>, jid: string): JobRecord | undefined {
  const job = records.get(['job', jid])
  if (!isFields(job)) return undefined
  const { load, minions, unknown } = job
  return {
    ...(isFields(load) && { load }),
    minions: Array.isArray(minions) ? minions.map(String) : [],
    ...(Array.isArray(unknown) && { unknown: unknown.map(String) }),
  }
}

/** A jid that is first heard of. */
export function startJob(
  records: StoreChange,
  jid: string,
  now: number,
  how: true | typeof IMPORTED = true,
): void {
  records.put(['job', jid], { minions: [] })
  records.put(['age', now, jid], how)
}

/** A job with all by which it is found: in the index, and among the waves of its batch. */
export function putJob(records: StoreChange, jid: string, job: JobRecord & { readonly load: Fields }): void {
  records.put(['job', jid], job)
  putIndex(records, jid, job.load)
  const batch = batchOf(jid, job.load)
  // Only a jid can be looked up as a batch.
  if (batch !== undefined && isJid(batch)) records.put(['wave', batch, jid], true)
}

/** The jobs of a batch. */
export const wavesOf = (records: StoreReader, batch: string): string[] =>
  Array.from(records.keys(under('wave', batch)), (key) => String(key[2]))

export const union = (first: readonly string[], second: readonly string[]): string[] => [
  ...new Set([...first, ...second]),
]
