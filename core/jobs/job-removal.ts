import { isRecord } from '../base/record.ts'
import {
  type KeyRange,
  keysUnder,
  type Store,
  type StoreChange,
  type StoreKey,
  type StoreReader,
} from '../store/index.ts'
import { removeBatch } from './batches.ts'
import { Deliveries } from './deliveries.ts'
import { removeIndex } from './job-index.ts'

/** Rows in one transaction. Limits the time that other writers wait to some milliseconds. */
const ROWS_AT_ONCE = 1000

/** The jobs to remove. */
interface OldJobs {
  /** Range of their age keys `['age', ms, jid]`, oldest first. */
  readonly ages: KeyRange
  /** Return true for a job that must be kept nevertheless. */
  readonly mustKeep?: (records: StoreReader, jid: string, ms: number) => boolean
  /** Called before each transaction that begins with a new job. Removal ends when it returns false. */
  readonly isNeeded?: () => boolean
}

/** Remove jobs with all their records, in short transactions. Yields the ids of removed jobs. */
export async function* removeJobs(store: Store, { ages, mustKeep, isNeeded = () => true }: OldJobs) {
  let step: Step = { gone: [], next: ages.from }
  while (step.next && (step.begun || isNeeded())) {
    const { next: from, begun } = step
    step = await store.change((records) => removeSome(records, { from, to: ages.to }, mustKeep, begun))
    yield* step.gone
  }
}

interface Step {
  readonly gone: readonly string[]
  /** Key at which to continue. */
  readonly next?: StoreKey
  /** True if the job at `next` is partly removed. */
  readonly begun?: boolean
}

function removeSome(
  records: StoreChange,
  ages: KeyRange,
  mustKeep: OldJobs['mustKeep'],
  begun = false,
): Step {
  const gone: string[] = []
  let left = ROWS_AT_ONCE
  for (const key of records.keys(ages)) {
    const jid = String(key[2])
    if (--left <= 0) return { gone, next: key }
    const continues = begun && key[1] === ages.from[1] && jid === ages.from[2]
    const isKept = () => records.has(['batch-open', jid]) || mustKeep?.(records, jid, Number(key[1]))
    if (!continues && isKept()) continue
    for (const row of rowsOf(records, jid)) {
      if (--left < 0) return { gone, next: key, begun: true }
      records.remove(row)
    }
    removeBatch(records, jid)
    Deliveries.forget(records, jid)
    records.remove(['end', jid])
    records.remove(key)
    gone.push(jid)
    if (continues) return { gone, next: key } // lets the caller check the size again
  }
  return { gone }
}

/** List the keys of a job. The job itself comes first, so that it is no longer listed. */
function* rowsOf(records: StoreChange, jid: string): Generator<StoreKey> {
  const job = records.get(['job', jid])
  if (job !== undefined) {
    if (isRecord(job) && isRecord(job.load)) removeIndex(records, jid, job.load)
    yield ['job', jid]
  }
  for (const kind of ['ret', 'start', 'unannounced', 'member', 'delivery', 'delivery-news'])
    yield* records.keys(keysUnder(kind, jid))
}

/** A job younger than this may still run if returns are missing; an older one only where a minion has reported its start. */
const YOUNG_MS = 3_600_000

/** Whether a job may still run, or has a return whose event has not been fired. */
export function mayStillRun(records: StoreReader, jid: string, ms: number, now: number): boolean {
  if (Deliveries.isOpen(records, jid) || some(records.keys(keysUnder('unannounced', jid)))) return true
  const lacks = (id: string) => !records.has(['ret', jid, id])
  for (const key of records.keys(keysUnder('start', jid))) if (lacks(String(key[2]))) return true
  if (ms <= now - YOUNG_MS) return false
  const job = records.get(['job', jid])
  return !isRecord(job) || !job.load || !Array.isArray(job.minions) || job.minions.map(String).some(lacks)
}

const some = (keys: Iterable<unknown>): boolean => {
  for (const _ of keys) return true
  return false
}
