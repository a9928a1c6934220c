import { isJid } from '../../base/jid.ts'
import { isRecord } from '../../base/record.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import type { JobElsewhere } from '../../jobs/jobs-elsewhere.ts'
import type { Publications } from '../../jobs/publications.ts'
import { asNumber } from '../../wire/bytes.ts'
import { makeMissedJob, readMissedJob } from '../../wire/missed-jobs.ts'
import type { Replicated } from './replica.ts'

interface WaitingJobsSettings {
  readonly jobs: Pick<JobCache, 'deliveries' | 'record'>
  readonly publications: Publications
  /** Name of this master. */
  readonly master: string
  now(): number
  /** How often the jobs that wait are compared with those known, in milliseconds. */
  readonly checkMs?: number
}

const CHECK_INTERVAL_MS = 2_000
/** How long an expired job is kept if the master that published it is not there to remove it. */
const KEEP_MS = 86_400_000

/**
 * Jobs that wait for minions (`deliver_within`), by jid. The master that published a job keeps it and decides about it. The
 * others give it to minions that ask them, and report that to the publishing master.
 */
export function replicatedWaitingJobs(settings: WaitingJobsSettings): Replicated {
  const { jobs, publications, master, now, checkMs = CHECK_INTERVAL_MS } = settings
  const { deliveries } = jobs
  const { elsewhere } = publications
  let known: ReadonlyMap<string, string> = new Map()
  let nextCheckAt = 0
  /** Jobs of this master that others have given to minions, or still take for open. They are sent to the others again. */
  const again = new Set<string>()

  function marks(): Map<string, string> {
    const own = deliveries.list().map(({ jid }) => [jid, `own ${deliveries.takerCount(jid)}`] as const)
    const others = elsewhere.list().map(({ jid, taken }) => [jid, `${taken}`] as const)
    return new Map([...others, ...own])
  }

  /**
   * Return a job of this master. Minions that its target may not match are left out: they decide that themselves, with the master
   * that published the job.
   */
  function ownJob(jid: string): JobElsewhere | undefined {
    const [untilMs, missed] = [deliveries.until(jid), publications.waitingJob(jid)]
    const unknown = new Set(jobs.record(jid)?.unknown)
    const waiting = deliveries.waiters(jid).filter(({ id }) => !unknown.has(id))
    const [first] = waiting
    if (untilMs === undefined || !missed || !first) return undefined
    return { missed, at: first.at, untilMs, takers: waiting.map(({ id }) => id), taken: [] }
  }

  async function expire(): Promise<void> {
    for (const { jid, untilMs } of elsewhere.list())
      if (untilMs + KEEP_MS < now()) await elsewhere.remove(jid)
  }

  return {
    name: 'waiting',
    async changed(all) {
      if (performance.now() < nextCheckAt && !all && again.size === 0) return []
      nextCheckAt = performance.now() + checkMs
      await expire()
      const before = known
      known = marks()
      const ids = [...new Set([...before.keys(), ...known.keys(), ...again])]
      const changed = ids.filter((jid) => all || again.has(jid) || before.get(jid) !== known.get(jid))
      again.clear()
      return changed
    },
    async read(jid) {
      const job = ownJob(jid) ?? elsewhere.get(jid)
      return job && { ...job, missed: makeMissedJob(job.missed) }
    },
    async write(jid, value) {
      const job = readJob(value)
      if (!isJid(jid)) return value
      if (!job) await elsewhere.remove(jid)
      else if (job.missed.job.master_id === master) {
        for (const id of job.taken) await deliveries.delivered(jid, id)
        again.add(jid)
      } else await elsewhere.keep(jid, job)
      return value
    },
    overAt(value) {
      const job = readJob(value)
      return job && job.untilMs + KEEP_MS
    },
    merge(here, elsewhere) {
      const [local, remote] = [readJob(here), readJob(elsewhere)]
      if (!local) return elsewhere
      if (!remote) return local.taken.length > 0 ? here : undefined
      return { ...(elsewhere as object), taken: [...new Set([...remote.taken, ...local.taken])] }
    },
  }
}

function readJob(value: unknown): JobElsewhere | undefined {
  if (!isRecord(value)) return undefined
  const [missed, at, untilMs] = [readMissedJob(value.missed), asNumber(value.at), asNumber(value.untilMs)]
  if (!missed || at === undefined || untilMs === undefined) return undefined
  return { missed, at, untilMs, takers: idsIn(value.takers), taken: idsIn(value.taken) }
}

const idsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((id) => typeof id === 'string') : []
