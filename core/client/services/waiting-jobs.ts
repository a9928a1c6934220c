import type { MasterServices, WaitingJob } from '../../author/context.ts'
import type { JobCache } from '../../jobs/job-cache.ts'

/** List and cancel the jobs that wait for minions (`deliver_within`). */
export const waitingJobs = (
  jobs: () => Promise<JobCache>,
): Pick<MasterServices['jobs'], 'waiting' | 'cancel'> => ({
  async waiting() {
    const cache = await jobs()
    return cache.deliveries.list().map(({ jid, untilMs }): WaitingJob => {
      const load = cache.load(jid)?.load ?? {}
      return { jid, load, until: new Date(untilMs).toISOString(), minions: cache.deliveries.takers(jid) }
    })
  },
  async cancel(jid, minions) {
    const cache = await jobs()
    const wanted = minions && new Set(minions)
    const found = { cancelled: [] as string[], expired: [] as string[] }
    for (const job of [jid, ...cache.waves(jid)]) {
      await cache.deliveries.cancel(job, minions)
      const undecided: string[] = []
      for (const id of cache.record(job)?.minions ?? []) {
        if (wanted && !wanted.has(id)) continue
        const state = cache.deliveries.state(job, id)
        if (state === 'cancelled' || state === 'expired') found[state].push(id)
        else if (!cache.hasReturn(job, id)) undecided.push(id)
      }
      await cache.deliveries.withhold(job, undecided)
    }
    return found
  },
})
