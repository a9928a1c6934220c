import {
  type KeyRange,
  type Store,
  type StoreChange,
  type StoreKey,
  type StoreReader,
  under,
} from '../store/index.ts'
import { removeBatch } from './batches.ts'
import { removeIndex } from './job-index.ts'
import { isFields } from './records.ts'

/** Rows in one transaction: whoever wants to store a return waits some milliseconds at most. */
const ROWS_AT_ONCE = 1000

/** Of jobs, oldest first: the key by which their age is known, `['age', ms, jid]`. */
interface OldJobs {
  readonly ages: KeyRange
  /** Jobs that stay nevertheless. */
  readonly spare?: (records: StoreReader, jid: string, ms: number) => boolean
  /** Asked before each transaction that begins with another job. */
  readonly goOn?: () => boolean
}

/** Removes jobs with all that is kept of them, in short transactions, and gives their ids as they go. */
export async function* removeJobs(store: Store, { ages, spare, goOn = () => true }: OldJobs) {
  let step: Step = { gone: [], next: ages.from }
  while (step.next && (step.begun || goOn())) {
    const { next: from, begun } = step
    step = await store.change((records) => removeSome(records, { from, to: ages.to }, spare, begun))
    yield* step.gone
  }
}

interface Step {
  readonly gone: readonly string[]
  /** Where to go on. */
  readonly next?: StoreKey
  /** Of the job there a part is removed. */
  readonly begun?: boolean
}

function removeSome(records: StoreChange, ages: KeyRange, spare: OldJobs['spare'], begun = false): Step {
  const gone: string[] = []
  let left = ROWS_AT_ONCE
  for (const key of records.keys(ages)) {
    const jid = String(key[2])
    if (--left <= 0) return { gone, next: key }
    const goesOn = begun && key[1] === ages.from[1] && jid === ages.from[2]
    const stays = () => records.has(['batch-open', jid]) || spare?.(records, jid, Number(key[1]))
    if (!goesOn && stays()) continue
    for (const row of rowsOf(records, jid)) {
      if (--left < 0) return { gone, next: key, begun: true }
      records.remove(row)
    }
    removeBatch(records, jid)
    records.remove(['end', jid])
    records.remove(key)
    gone.push(jid)
    if (goesOn) return { gone, next: key } // perhaps that was enough
  }
  return { gone }
}

/** The job itself first: with that it is no longer listed. */
function* rowsOf(records: StoreChange, jid: string): Generator<StoreKey> {
  const job = records.get(['job', jid])
  if (job !== undefined) {
    if (isFields(job) && isFields(job.load)) removeIndex(records, jid, job.load)
    yield ['job', jid]
  }
  for (const kind of ['ret', 'start', 'unannounced', 'member']) yield* records.keys(under(kind, jid))
}

/** A job younger than this may still be running, if not all have returned; an older one if a minion has said so. */
const YOUNG_MS = 3_600_000

/** Whether a job may still run, or an event of it is due. */
export function isUnderWay(records: StoreReader, jid: string, ms: number, now: number): boolean {
  if (some(records.keys(under('unannounced', jid)))) return true
  const lacks = (id: string) => !records.has(['ret', jid, id])
  for (const key of records.keys(under('start', jid))) if (lacks(String(key[2]))) return true
  if (ms <= now - YOUNG_MS) return false
  const job = records.get(['job', jid])
  return !isFields(job) || !job.load || !Array.isArray(job.minions) || job.minions.map(String).some(lacks)
}

const some = (keys: Iterable<unknown>): boolean => {
  for (const _ of keys) return true
  return false
}
