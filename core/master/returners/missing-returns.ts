import type { Log } from '../../author/context.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { repeat } from '../../base/repeat.ts'
import { connections } from '../../cache/connected.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import { type GivenUp, type JobStatus, nextStatus } from '../../jobs/job-states.ts'
import { storedStatus } from '../../jobs/stored-status.ts'
import { unsent } from '../../jobs/unsent.ts'
import { KeyStore } from '../../keys/key-store.ts'

/** Facts that the master has about minions without asking them. */
export interface KnownMinions {
  /** The id of the master, whose own jobs are runners: they always return. */
  readonly master: string
  readonly accepted: ReadonlySet<string>
  readonly lost: ReadonlySet<string>
}

interface MissingReturnsSettings {
  readonly clock?: Clock
  /** Return the minions whose return of a job another master has stored. */
  returnedElsewhere?(jid: string): Promise<ReadonlySet<string>>
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Send the stores of `master_job_cache` a row for each minion that has not returned `missing_returns_after` seconds after
 * its job was published: a return with `success: false`, the state and a sentence. A late return replaces it.
 */
export function recordMissingReturns(
  config: MasterConfig,
  jobs: JobCache,
  log: Log,
  { clock = systemClock, returnedElsewhere = async () => NONE }: MissingReturnsSettings = {},
): { close(): Promise<void> } {
  const seconds = config.missing_returns_after
  const keys = new KeyStore(config.pki_dir, config.api_clients)
  async function recordDue(): Promise<void> {
    const moment = clock.now() - seconds * 1000
    // Some of their minions have not had their turn, or may still take the job.
    const open = new Set([...jobs.batches.open(), ...jobs.deliveries.list().map(({ jid }) => jid)])
    const jids = jobs.settled.open(moment)
    const over = jids.filter((jid) => !open.has(jid))
    if (over.length > 0) {
      const lost = new Set((await connections(config))?.lost)
      const known = { master: config.id, accepted: new Set(await keys.minions()), lost }
      for (const jid of over) {
        const missing = missingReturns(jobs, jid, known)
        const elsewhere = missing.length > 0 ? await returnedElsewhere(jid) : NONE
        await jobs.sendMissing(
          jid,
          missing.filter(({ id }) => !elsewhere.has(String(id))),
        )
      }
    }
    await jobs.settled.note(
      moment,
      jids.filter((jid) => open.has(jid)),
    )
  }
  if (seconds === 0) return { close: async () => undefined }
  return repeat(recordDue, 1000 * Math.min(config.loop_interval, seconds), (error) =>
    log.error(`Missing returns could not be recorded: ${messageOf(error)}`),
  )
}

/** Return the rows of a job's missing returns. Minions that the target may not match, and that did not start, are left out. */
export function missingReturns(jobs: JobCache, jid: string, known: KnownMinions): Record<string, unknown>[] {
  const { load, minions = [], unknown = [] } = jobs.load(jid) ?? {}
  if (!load) return []
  const { fun, arg: fun_args, user } = load
  const starts = jobs.starts(jid)
  const returned = jobs.returns(jid)
  const perhaps = new Set(unknown.filter((id) => !starts.has(id)))
  const batch = jobs.batches.status(jid)
  const out = batch && unsent(batch)
  return (out ? [...out.keys()] : minions)
    .filter((id) => !returned.has(id) && !perhaps.has(id) && id !== known.master)
    .map((id) => {
      const { state, why } = out?.get(id) ?? statusOf(id, jid, storedStatus(jobs, jid, id), known)
      const message = `Minion did not return. State: ${state}. ${why}`
      return { jid, id, fun, fun_args, user, return: message, retcode: 255, success: false, state }
    })
}

function statusOf(id: string, jid: string, status: JobStatus, { accepted, lost }: KnownMinions): JobStatus {
  const giveUp = (why: GivenUp) => nextStatus(status, { type: 'given-up', why, id, jid })
  if (!accepted.has(id)) return giveUp('no-key')
  return lost.has(id) ? giveUp('not-connected') : status
}
