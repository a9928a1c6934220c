import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { isRunning, type ProcessIdentity } from '../base/process-identity.ts'
import type { ReturnSpool, SpoolEntry } from '../jobs/return-spool.ts'
import type { ReceivedJob } from '../jobs/seen-jobs.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import { failedReturn } from './failed-return.ts'
import { processesWithJobs } from './job-titles.ts'
import { type ProcEntry, type ProcTable, stopOf } from './proc-table.ts'

export interface OrphanSettings {
  readonly id: string
  readonly procs: Pick<ProcTable, 'remove'>
  readonly spool: Pick<ReturnSpool, 'pending'>
  readonly log: Log
  readonly closing: AbortSignal
  /** Send a return that is in the spool. */
  deliver(entry: SpoolEntry): void
  /** Keep and send the return of a job that left none. */
  keep(orphan: ProcEntry, ret: ReturnLoad): Promise<void>
}

/** How often it is looked whether an orphan has ended. */
const LOOK_MS = 250

/**
 * Jobs of an earlier life of the minion, which ended while they ran. One whose process lives on is waited for: it
 * leaves its return in the spool. One that left none gets one that says so: every job ends with a return.
 * `owed` are the jids that had a return in the spool when the minion started; those are on their way already.
 */
export async function followOrphans(
  left: readonly ProcEntry[],
  owed: ReadonlySet<string>,
  settings: OrphanSettings,
): Promise<void> {
  await Promise.all(left.map((orphan) => follow(orphan, owed, settings)))
}

async function follow(orphan: ProcEntry, owed: ReadonlySet<string>, settings: OrphanSettings): Promise<void> {
  const { procs, spool, log, closing, id, deliver, keep } = settings
  const { job, process } = orphan
  if (process && isRunning(process))
    log.info(`Job ${job.jid} still runs, with PID ${process.pid}, since before this start`)
  while (process && isRunning(process)) {
    if (closing.aborted) return // the next life will see
    await delay(LOOK_MS)
  }
  if (owed.has(job.jid)) return procs.remove(job.jid)
  const entry = spool.pending().find(({ jid }) => jid === job.jid)
  if (!entry) return keep(orphan, failedReturn(job, id, lost(job.jid)))
  await procs.remove(job.jid)
  deliver(entry)
}

/**
 * Jobs of an earlier life of the minion of which the spool knows and whose file in `proc` is gone. The process of one may live
 * all the same.
 */
export function withoutFiles(
  unsettled: readonly ReceivedJob[],
  procs: Pick<ProcTable, 'get'>,
  cachedir: string,
): ProcEntry[] {
  const unknown = unsettled.filter(({ job }) => !procs.get(job.jid))
  const alive = unknown.length > 0 ? processesWithJobs(cachedir) : new Map<string, ProcessIdentity>()
  return unknown.map(({ job, master }) => {
    const process = alive.get(job.jid)
    const load: JobLoad = { ...(job as unknown as JobLoad), arg: [] }
    return { job: load, process, master, stop: process ? stopOf(process) : waits }
  })
}

function waits(): never {
  throw new Error('It waits for its master.')
}

const lost = (jid: string) =>
  `The minion ended while job ${jid} ran or was to begin, and the job left no return; how far it came is not known.`
