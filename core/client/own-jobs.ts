import type { MasterServices } from '../author/context.ts'
import type { JobArchive } from '../author/master.ts'
import { SaltError } from '../base/errors.ts'

/**
 * The same services for a runner of somebody who may not do everything (`visible_jobs: own`): it finds the jobs and runs of this user,
 * and none of others. Files of all jobs are not for it.
 */
export function onlyJobsOf(user: string, services: MasterServices): MasterServices {
  const { jobs } = services
  const isOwn = async (jid: string, source?: string) => (await jobs.get(jid, { source }))?.load.user === user
  return {
    ...services,
    running: async () => (await services.running()).filter((run) => run.user === user),
    jobs: {
      onlyOf: user,
      archive: refusedArchive(user),
      async get(jid, options) {
        const job = await jobs.get(jid, options)
        return job?.load.user === user ? job : undefined
      },
      returns: async (jid, options) =>
        (await isOwn(jid, options?.source)) ? jobs.returns(jid, options) : [],
      unreturned: async (jid) => ((await isOwn(jid)) ? jobs.unreturned(jid) : []),
      async *list({ limit = Number.POSITIVE_INFINITY, ...query } = {}) {
        let left = limit
        if (left <= 0) return
        for await (const job of jobs.list(query)) {
          if (job.load.user !== user) continue
          yield job
          if (--left <= 0) return
        }
      },
    },
  }
}

function refusedArchive(user: string): JobArchive {
  const refuse = async () => {
    throw new SaltError(
      'AUTHORIZATION_FAILED',
      `${user} sees only jobs of their own (visible_jobs of the master): files of all jobs are for who may do everything.`,
    )
  }
  return { export: refuse, import: refuse, backup: refuse }
}
