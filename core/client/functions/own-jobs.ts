import type { MasterServices } from '../../author/context.ts'
import type { JobArchive } from '../../author/master.ts'
import { SaltError } from '../../base/errors.ts'
import { isReservedTag } from '../../events/index.ts'

/** The user a runner runs for; `owner` distinguishes users of the same name. */
export interface OwnJobs {
  readonly user: string
  readonly owner: string | undefined
}

/**
 * Restrict the services of a runner to one owner (`visible_jobs: own`): it sees the jobs, runs and batches of this owner,
 * none of others, and none without an owner. It may not read or write archives of the job cache, nor fire events in the name of the master,
 * by which listeners know whose job is whose, and what minions have returned.
 */
export function restrictToOwner({ user, owner }: OwnJobs, services: MasterServices): MasterServices {
  const { jobs, batches } = services
  const isOwn = (one: { readonly owner?: unknown } | undefined): boolean =>
    owner !== undefined && one?.owner === owner
  const isOwnJob = async (jid: string, source?: string) => isOwn((await jobs.get(jid, { source }))?.load)
  const running = async () => (await services.running()).filter(isOwn)
  return {
    ...services,
    fire: async (tag, data) => {
      if (isReservedTag(tag, NO_MINION)) throw refusedTag(user, tag)
      return services.fire(tag, data)
    },
    running,
    killRun: async (jid) => (await running()).some((run) => run.jid === jid) && services.killRun(jid),
    batches: {
      async *list() {
        for await (const batch of batches.list()) if (isOwn(batch)) yield batch
      },
      async get(jid) {
        const batch = await batches.get(jid)
        return isOwn(batch) ? batch : undefined
      },
      stop: async (jid) => isOwn(await batches.get(jid)) && batches.stop(jid),
    },
    jobs: {
      onlyOf: user,
      archive: refusedArchive(user),
      async get(jid, options) {
        const job = await jobs.get(jid, options)
        return isOwn(job?.load) ? job : undefined
      },
      returns: async (jid, options) =>
        (await isOwnJob(jid, options?.source)) ? jobs.returns(jid, options) : [],
      unreturned: async (jid) => ((await isOwnJob(jid)) ? jobs.unreturned(jid) : []),
      waiting: async () => (await jobs.waiting()).filter(({ load }) => isOwn(load)),
      cancel: async (jid, minions) =>
        (await isOwnJob(jid)) ? jobs.cancel(jid, minions) : { cancelled: [], expired: [] },
      async *list({ limit = Number.POSITIVE_INFINITY, ...query } = {}) {
        let left = limit
        if (left <= 0) return
        for await (const job of jobs.list(query)) {
          if (!isOwn(job.load)) continue
          yield job
          if (--left <= 0) return
        }
      },
    },
  }
}

/** No id of a minion: none of their own tags is that of a user. */
const NO_MINION = '/'

const refusedTag = (user: string, tag: string) =>
  new SaltError(
    'AUTHORIZATION_FAILED',
    `${user} may not fire events with tags of Salt, such as ${tag} (visible_jobs): use another first word.`,
  )

function refusedArchive(user: string): JobArchive {
  const refuse = async () => {
    throw new SaltError(
      'AUTHORIZATION_FAILED',
      `${user} may see only their own jobs (visible_jobs): exporting and importing the job cache needs full rights.`,
    )
  }
  return { export: refuse, import: refuse, backup: refuse }
}
