import type { BatchStatus, Log } from '../author/context.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { connections } from '../jobs/connected.ts'
import type { JobCache } from '../jobs/job-cache.ts'
import { advance, type GivenUp, type JobStatus, published } from '../jobs/job-states.ts'
import { KeyStore } from '../keys/key-store.ts'

/** What the master knows of minions, without asking them. */
export interface KnownMinions {
  /** The id of the master, whose own jobs are runners: they always return. */
  readonly master: string
  readonly accepted: ReadonlySet<string>
  readonly lost: ReadonlySet<string>
}

/**
 * Tells the stores of `master_job_cache`, some time after a job was published (`missing_returns_after`), of its minions that
 * have not returned: each is a return with `success: false`, its state and a sentence. A return that comes after all
 * takes its place.
 */
export function tellMissing(
  config: MasterConfig,
  jobs: JobCache,
  log: Log,
  clock: Clock = systemClock,
): { close(): Promise<void> } {
  const seconds = config.missing_returns_after
  const keys = new KeyStore(config.pki_dir, config.api_clients)
  async function look(): Promise<void> {
    const moment = clock.now() - seconds * 1000
    const open = new Set(jobs.batches.open()) // some of their minions have not had their turn
    const jids = jobs.settled.open(moment)
    const over = jids.filter((jid) => !open.has(jid))
    if (over.length > 0) {
      const lost = (await connections(config))?.lost
      const known = { master: config.id, accepted: new Set(await keys.minions()), lost: new Set(lost) }
      for (const jid of over) await jobs.sendMissing(jid, missingReturns(jobs, jid, known))
    }
    await jobs.settled.note(
      moment,
      jids.filter((jid) => open.has(jid)),
    )
  }
  if (seconds === 0) return { close: async () => undefined }
  let looking: Promise<void> | undefined
  const lookAgain = () => {
    looking ??= look()
      .catch((error: unknown) => log.error(`Missing returns were not told: ${messageOf(error)}`))
      .finally(() => {
        looking = undefined
      })
  }
  const timer = setInterval(lookAgain, 1000 * Math.min(config.loop_interval, seconds))
  return {
    async close() {
      clearInterval(timer)
      await looking
    },
  }
}

/** A minion that is perhaps not meant, and has not begun, is not missed. */
export function missingReturns(jobs: JobCache, jid: string, known: KnownMinions): Record<string, unknown>[] {
  const { load, minions = [], unknown = [] } = jobs.load(jid) ?? {}
  if (!load) return []
  const { fun, arg: fun_args, user } = load
  const starts = jobs.starts(jid)
  const returned = jobs.returns(jid)
  const perhaps = new Set(unknown.filter((id) => !starts.has(id)))
  const batch = jobs.batches.status(jid)
  return (batch ? leftOut(batch) : minions)
    .filter((id) => !returned.has(id) && !perhaps.has(id) && id !== known.master)
    .map((id) => {
      const had = batch?.minions.queued?.includes(id) ? noTurn(batch) : undefined
      const { state, why } = had ?? statusOf(id, jid, starts.has(id), known)
      const told = `Minion did not return. State: ${state}. ${why}`
      return { jid, id, fun, fun_args, user, return: told, retcode: 255, success: false, state }
    })
}

/** Those of a batch that no wave of it was sent to: waves are jobs of their own. */
const leftOut = ({ minions }: BatchStatus): string[] => [...(minions.down ?? []), ...(minions.queued ?? [])]

const noTurn = ({ halted = '' }: BatchStatus): JobStatus => ({
  state: 'unknown',
  why: `The batch ended before its turn came. ${halted}`.trim(),
})

function statusOf(id: string, jid: string, hasBegun: boolean, { accepted, lost }: KnownMinions): JobStatus {
  const status = hasBegun ? advance(published, { type: 'started' }) : published
  const giveUp = (why: GivenUp) => advance(status, { type: 'given-up', why, id, jid })
  if (!accepted.has(id)) return giveUp('no-key')
  return lost.has(id) ? giveUp('not-connected') : status
}
