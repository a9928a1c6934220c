import type { MasterServices, WaitingJob } from '../../author/context.ts'
import type { JobCache } from '../../jobs/job-cache.ts'

/** List and cancel the jobs that wait for minions (`deliver_within`). */
export const waitingJobs = (
  jobs: () => Promise<JobCache>,
): Pick<MasterServices['jobs'], 'waiting' | 'cancel'> => ({
  async waiting() {
    const cache = await jobs()
    const open = cache.deliveries.list().map(({ jid, until }): WaitingJob => {
      const load = cache.load(jid)?.load ?? {}
      return { jid, load, until: new Date(until).toISOString(), minions: cache.deliveries.undecided(jid) }
    })
    return open.filter(({ minions }) => minions.length > 0)
  },
  async cancel(jid, minions) {
    const cache = await jobs()
    const all = [jid, ...cache.waves(jid)].map((job) => cache.deliveries.cancel(job, minions))
    const done = await Promise.all(all)
    return {
      cancelled: done.flatMap(({ cancelled }) => cancelled),
      taken: done.flatMap(({ taken }) => taken),
    }
  },
})
