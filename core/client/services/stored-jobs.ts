import type { ListedJob, MasterServices, StoredJob, StoredReturn } from '../../author/context.ts'
import type { JobQuery } from '../../author/master.ts'
import type { ExternalJobs } from '../../jobs/external-jobs.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import { matchesQuery } from '../../jobs/job-query.ts'

/** Salt's name for the master's own job cache. */
const OWN = 'local_cache'

/**
 * Find stored jobs: first in the master's own job cache, where they stay for `keep_jobs_seconds`, then in external stores.
 * With a source, only there.
 */
export function storedJobs(
  jobs: () => Promise<JobCache>,
  outside: Pick<ExternalJobs, 'get' | 'returns' | 'list'>,
): Pick<MasterServices['jobs'], 'get' | 'returns' | 'list'> {
  const looksHere = (source: string | undefined) => source === undefined || source === OWN

  async function* own(query: JobQuery): AsyncGenerator<ListedJob> {
    yield* (await jobs()).list(query)
  }

  async function* others(query: JobQuery, source: string | undefined): AsyncGenerator<ListedJob> {
    for await (const job of outside.list(source)) if (matchesQuery(job.jid, job.load, query)) yield job
  }

  return {
    async get(jid, { source } = {}) {
      const stored = looksHere(source) ? storedJob(await jobs(), jid) : undefined
      if (stored || source === OWN) return stored
      return (await outside.get(jid, source)) ?? jobOf(jid, await outside.returns(jid, source), await jobs())
    },
    async returns(jid, { source } = {}) {
      const found = new Map<string, StoredReturn>()
      if (looksHere(source)) for (const ret of ownReturns(await jobs(), jid)) found.set(ret.id, ret)
      if (source !== OWN)
        for (const ret of await outside.returns(jid, source)) if (!found.has(ret.id)) found.set(ret.id, ret)
      return [...found.values()]
    },
    async *list({ source, ...query } = {}) {
      const here = looksHere(source) ? own(query) : nothing()
      yield* limited(merged(here, source === OWN ? nothing() : others(query, source)), query.limit)
    },
  }
}

/** Build a job from its returns if the store lacks the job itself, as with `--return`, and the master does not have it either. */
function jobOf(jid: string, returns: readonly StoredReturn[], cache: JobCache): StoredJob | undefined {
  const [first] = returns
  if (!first) return undefined
  const { fun, fun_args: arg, user } = first
  const minions = returns.map(({ id }) => id)
  return storedJob(cache, jid) ?? { jid, minions, load: { fun, arg, tgt: minions, tgt_type: 'list', user } }
}

async function* nothing(): AsyncGenerator<never> {}

/** Return a stored job; a batch with its waves looks like one job. */
function storedJob(cache: JobCache, jid: string): StoredJob | undefined {
  const stored = cache.load(jid)
  const waves = stored ? cache.waves(jid) : []
  if (!stored || waves.length === 0) return stored && { jid, ...stored }
  const jobs = [jid, ...waves].flatMap((job) => cache.load(job) ?? [])
  const minions = new Set(jobs.flatMap((job) => job.minions))
  const endtime = jobs
    .map((job) => job.endtime ?? '')
    .sort()
    .at(-1)
  return { jid, ...stored, minions: [...minions], waves, ...(endtime && { endtime }) }
}

const ownReturns = (cache: JobCache, jid: string): StoredReturn[] =>
  [jid, ...cache.waves(jid)].flatMap((job) =>
    [...cache.returns(job)].map(([id, ret]) => ({ ...ret, id }) as StoredReturn),
  )

/** Merge two lists, both newest first; a job that is in both comes from the first. */
async function* merged(
  first: AsyncGenerator<ListedJob>,
  second: AsyncGenerator<ListedJob>,
): AsyncGenerator<ListedJob> {
  try {
    let [one, other] = await Promise.all([first.next(), second.next()])
    while (!one.done || !other.done) {
      const fromFirst = !one.done && (other.done || one.value.jid >= other.value.jid)
      const taken = (fromFirst ? one.value : other.value) as ListedJob
      yield taken
      if (!one.done && one.value.jid === taken.jid) one = await first.next()
      while (!other.done && other.value.jid === taken.jid) other = await second.next()
    }
  } finally {
    await Promise.all([first.return(undefined), second.return(undefined)])
  }
}

async function* limited<T>(all: AsyncGenerator<T>, limit = Number.POSITIVE_INFINITY): AsyncGenerator<T> {
  let left = limit
  if (left <= 0) return
  for await (const one of all) {
    yield one
    if (--left <= 0) return
  }
}
