import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import type { ReturnSpool, SpoolEntry } from '../../jobs/return-spool.ts'
import type { PendingJob, SeenJobs } from '../../jobs/seen-jobs.ts'
import { isRunning, type ProcessIdentity } from '../../process/process-identity.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { ReturnLoad } from '../../wire/return.ts'
import type { MinionStores } from '../stores.ts'
import { failedReturn } from './failed-return.ts'
import { processesWithJobs } from './job-titles.ts'
import { type ProcEntry, type ProcTable, stopFunctionOf } from './proc-table.ts'

export interface OrphanSettings {
  readonly id: string
  readonly procs: Pick<ProcTable, 'remove'>
  readonly spool: Pick<ReturnSpool, 'pending' | 'refresh'>
  readonly seen: Pick<SeenJobs, 'isSettled'>
  readonly log: Log
  readonly closing: AbortSignal
  /** Send a return that is in the spool. */
  deliver(entry: SpoolEntry): void
  /** Persist and send the return of a job that left none. */
  persist(orphan: ProcEntry, ret: ReturnLoad): Promise<void>
}

/** Time between checks whether an orphan has ended. */
const POLL_MS = 250

/** Jobs that an earlier run of the minion left. */
export interface EarlierJobs {
  /** Jobs that were accepted but did not begin. They can still run. */
  readonly waiting: readonly PendingJob[]
  /** Jobs that had begun and whose end the minion did not see. */
  readonly orphans: readonly ProcEntry[]
}

/** Find the jobs that an earlier run left. Those that are recorded only in the spool are added to the table of processes. */
export async function findEarlierJobs(
  { procs, interrupted, seen }: Pick<MinionStores, 'procs' | 'interrupted' | 'seen'>,
  cachedir: string,
): Promise<EarlierJobs> {
  const unsettled = seen.unsettled()
  const withoutFile = findJobsWithoutFile(unsettled, procs, cachedir)
  for (const entry of withoutFile) await procs.add(entry)
  const waiting = unsettled.filter(({ begun }) => !begun)
  const isWaiting = ({ job }: ProcEntry) => waiting.some((stored) => stored.job.jid === job.jid)
  return { waiting, orphans: [...interrupted, ...withoutFile.filter((entry) => !isWaiting(entry))] }
}

/**
 * Give each orphan a return, since every job ends with one. If its process still runs, wait for the return that it leaves in
 * the spool. An orphan that left none gets a failed return.
 */
export async function followOrphans(orphans: readonly ProcEntry[], settings: OrphanSettings): Promise<void> {
  await Promise.all(orphans.map((orphan) => follow(orphan, settings)))
}

async function follow(orphan: ProcEntry, settings: OrphanSettings): Promise<void> {
  const { procs, spool, seen, log, closing, id, deliver, persist } = settings
  const { job, process } = orphan
  if (process && isRunning(process))
    log.info(`Job ${job.jid}, started before the restart of the minion, still runs (PID ${process.pid})`)
  while (process && isRunning(process)) {
    if (closing.aborted) return // left to the next run of the minion
    await delay(POLL_MS)
  }
  spool.refresh() // its process has added the return before it ended
  const entry = spool.pending().find(({ jid }) => jid === job.jid)
  if (!entry && !seen.isSettled(job.jid)) return persist(orphan, failedReturn(job, id, lost(job.jid)))
  if (entry) deliver(entry) // at once: it may be under way, and must not be sent again when it is gone
  await procs.remove(job.jid)
}

/** List jobs that are recorded in the spool and whose file in `proc` is missing. Their processes may still run. */
function findJobsWithoutFile(
  unsettled: readonly PendingJob[],
  procs: Pick<ProcTable, 'get'>,
  cachedir: string,
): ProcEntry[] {
  const unknown = unsettled.filter(({ job }) => !procs.get(job.jid))
  const alive = unknown.length > 0 ? processesWithJobs(cachedir) : new Map<string, ProcessIdentity>()
  return unknown.map(({ job, master }) => {
    const process = alive.get(job.jid)
    const load: JobLoad = { ...(job as unknown as JobLoad), arg: [] }
    return { job: load, process, master, stop: process ? stopFunctionOf(process) : throwWaiting }
  })
}

function throwWaiting(): never {
  throw new Error('The job has not started: it waits until its master has answered.')
}

const lost = (jid: string) =>
  `The minion ended while job ${jid} ran or was about to begin, and the job left no return. It is unknown how much of it was done.`
