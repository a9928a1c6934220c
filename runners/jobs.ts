/** Running jobs, and those in the job cache. */
import {
  CommandExecutionError,
  type Context,
  fn,
  type JobQuery,
  p,
  type StoredJob,
  type StoredReturn,
} from 'salt-ts'
import { shownTime } from '#internal'
import { cancelQueued, minionsOf, reasonsAgainst, stopBatch } from './_jobs/cancel.ts'
import { describeJob, describeResult } from './_jobs/describe.ts'
import { queryOf } from './_jobs/search.ts'

const display_progress = p.default(p.boolean(), false)
const outputter = p.optional(p.string())
/** Name of a returner, whose store alone is searched; `local_cache` is the master's own job cache. */
const ext_source = p.optional(p.string())
const search = {
  ext_source,
  outputter,
  search_metadata: p.optional(p.record(p.any())),
  search_function: p.optional(p.any()),
  search_target: p.optional(p.any()),
  search_user: p.optional(p.any()),
  start_time: p.optional(p.string()),
  end_time: p.optional(p.string()),
}
/** Maximum number of jobs listed by default: more do not fit a screen, and listing a large cache takes minutes. */
const PAGE = 1000
const page = {
  limit: p.default(p.integer({ minimum: 0 }), PAGE),
  before: p.optional(p.any()),
  after: p.optional(p.any()),
}

/**
 * List the running jobs, by querying every minion.
 *
 * @example salt-run jobs.active
 */
export const active = fn({ display_progress }, async (args, { master }) => {
  const jobs = new Map<string, { job: Record<string, unknown>; running: Record<string, unknown>[] }>()
  for await (const result of master.run({ tgt: '*', fun: 'saltutil.running' })) {
    if (args.display_progress) await master.progress({ message: `Received reply from minion ${result.id}` })
    for (const job of jobsIn(result.return)) {
      if (master.jobs.onlyOf !== undefined && !(await master.jobs.get(job.jid))) continue
      const entry = jobs.get(job.jid) ?? { job, running: [] }
      entry.running.push({ [result.id]: job.pid ?? null })
      jobs.set(job.jid, entry)
    }
  }
  const rows = [...jobs].map(async ([jid, { job, running }]) => {
    const returned = (await master.jobs.returns(jid)).map(({ id }) => id)
    const stored = (await master.jobs.get(jid)) ?? { jid, load: job }
    return [jid, { ...describeJob(stored), Running: running, Returned: returned }] as const
  })
  return Object.fromEntries(await Promise.all(rows))
})

function jobsIn(answer: unknown): (Record<string, unknown> & { jid: string })[] {
  if (!Array.isArray(answer)) return []
  return answer.filter((job) => typeof job?.jid === 'string' && job.fun !== 'saltutil.running')
}

/**
 * List the runners and wheel functions that run in the background.
 *
 * @example salt-run jobs.master
 */
export const master = fn((_, context) => context.master.running())

/**
 * Return what the minions returned for a job. With `missing` also the state of those that did not return: whether the
 * job runs there, waits in a queue and so on. They are queried if a master is running.
 *
 * @example salt-run jobs.lookup_jid 20261121034212345678 missing=True
 */
export const lookup_jid = fn(
  {
    jid: p.any(),
    ext_source,
    returned: p.default(p.boolean(), true),
    missing: p.default(p.boolean(), false),
    display_progress,
  },
  async ({ jid, returned, missing, ext_source }, { master }) => {
    const jobs = jobsOf(master, ext_source)
    const job = await find(jobs, jid)
    const returns = await jobs.returns(job.jid)
    const silent = missing ? await master.jobs.unreturned(job.jid) : []
    const found = Object.fromEntries([
      ...(returned ? returns.map((one) => [one.id, one.return]) : []),
      ...silent.map(({ id, reason }) => [id, reason]),
    ])
    const outs = new Set(returns.map(({ out }) => out))
    return outs.size === 1 ? shownBy([...outs][0], found) : found
  },
)

/**
 * Show a job: its function, target, start, user and results. `Unknown` are minions that may not be selected.
 *
 * @example salt-run jobs.list_job 20261121034212345678
 */
export const list_job = fn({ jid: p.any(), ext_source, display_progress }, async (args, { master }) => {
  const jobs = jobsOf(master, args.ext_source)
  const job = await find(jobs, args.jid)
  return { jid: job.jid, ...(await whole(jobs, job)) }
})

/**
 * Show a job as `list_job` does, under its jid.
 *
 * @example salt-run jobs.print_job 20261121034212345678
 */
export const print_job = fn({ jid: p.any(), ext_source }, async (args, { master }) => {
  const jobs = jobsOf(master, args.ext_source)
  const job = await find(jobs, args.jid)
  return { [job.jid]: await whole(jobs, job) }
})

/**
 * Return whether the job succeeded on each minion. A minion that has not returned counts as failed, unless it may not
 * be selected.
 *
 * @example salt-run jobs.exit_success 20261121034212345678
 */
export const exit_success = fn({ jid: p.any(), ext_source }, async (args, { master }) => {
  const jobs = jobsOf(master, args.ext_source)
  const job = await find(jobs, args.jid)
  const returns = await jobs.returns(job.jid)
  return Object.fromEntries([
    ...returns.map(({ id, success, retcode }) => [id, success ?? retcode === 0]),
    ...silentOf(job, returns).map((id) => [id, false]),
  ])
})

/**
 * List the jobs that wait for minions (`salt --deliver-within`): until when, and for which minions.
 *
 * @example salt-run jobs.waiting
 */
export const waiting = fn(async (_, { master }) => {
  const jobs = await master.jobs.waiting()
  if (jobs.length === 0) await master.progress({ message: 'No job waits for minions.' })
  const rows = jobs.map(({ jid, load, until, minions }) => {
    const times = { DeliverUntil: shownTime(Date.parse(until)) }
    return [jid, { ...describeJob({ jid, load }), ...times, Waiting: [...minions] }]
  })
  return Object.fromEntries(rows)
})

/**
 * Cancel a job, or all jobs of a batch, where it has not begun: for minions that wait for it (`salt --deliver-within`), those that
 * have queued it (`process_count_max`), and those that a batch has not sent it to. `minions` are ids or shell patterns, as a list or
 * separated by commas; without them, all minions of the job. `Not cancelled` are the others that have not returned, each with the
 * reason; there are none if the exit code is 0. A minion that is away and does not have the job does not get it any more.
 *
 * @example salt-run jobs.cancel 20261121034212345678
 * @example salt-run jobs.cancel 20261121034212345678 minions='web*,db1'
 */
export const cancel = fn(
  { jid: p.any(), minions: p.optional(p.union(p.string(), p.array(p.string()))) },
  async ({ jid, minions }, { master }) => {
    const job = await find(jobsOf(master, undefined), jid)
    const named = minions === undefined ? undefined : minionsOf(job, minions)
    const unsent = named ? [] : await stopBatch(master, job.jid)
    const { cancelled, expired } = await master.jobs.cancel(job.jid, named)
    const returned = (await master.jobs.returns(job.jid)).map(({ id }) => id)
    const decided = new Set([...cancelled, ...expired, ...unsent, ...returned])
    const others = (named ?? job.minions).filter((id) => !decided.has(id))
    const queued = await cancelQueued(master, [job.jid, ...(job.waves ?? [])], others)
    const left = others.filter((id) => !queued.includes(id))
    const reasons = left.length > 0 ? await reasonsAgainst(master, job.jid, left) : {}
    const done = [...cancelled, ...unsent, ...queued].sort()
    if (done.length + expired.length + left.length === 0)
      await master.progress({ message: 'Nothing is left to cancel: the job has returned.' })
    return {
      Cancelled: done,
      ...(expired.length > 0 && { Expired: [...expired].sort() }),
      ...(Object.keys(reasons).length > 0 && { 'Not cancelled': reasons, retcode: 1 }),
    }
  },
)

/**
 * List stored jobs, newest first. `search_function`, `search_target` and `search_user` are globs or lists of globs;
 * `start_time` and `end_time` are dates, such as `2026-11-21 03:42`; `before` and `after` are job ids. Lists at most
 * `limit` jobs, 1000 by default; 0 lists all. If there are more, a message tells how to list them.
 *
 * @example salt-run jobs.list_jobs search_function='cmd.*' start_time=2026-11-21
 * @example salt-run jobs.list_jobs limit=50 before=20261121034212345678
 */
export const list_jobs = fn({ ...search, ...page, display_progress }, async (wanted, { master }) => {
  const { limit, outputter, ext_source } = wanted
  const rows: Record<string, unknown> = {}
  let [count, last] = [0, '']
  const query = { ...queryOf(wanted), ...(limit > 0 && { limit: limit + 1 }) }
  for await (const job of jobsOf(master, ext_source).list(query)) {
    if (count === limit && limit > 0) {
      const more = `Only the newest ${limit} jobs are listed. For the next ones use before=${last}, for all limit=0.`
      await master.progress({ message: more })
      break
    }
    rows[job.jid] = describeJob(job)
    count++
    last = job.jid
  }
  return shownBy(outputter, rows)
})

/**
 * List the newest `count` jobs, the newest last, without those that only look up other jobs.
 *
 * @example salt-run jobs.list_jobs_filter 10
 */
export const list_jobs_filter = fn(
  {
    count: p.integer({ minimum: 1 }),
    filter_find_job: p.default(p.boolean(), true),
    ext_source,
    outputter,
    display_progress,
  },
  async ({ count, filter_find_job, outputter, ext_source }, { master }) => {
    const rows: Record<string, unknown>[] = []
    for await (const job of jobsOf(master, ext_source).list()) {
      if (filter_find_job && job.load.fun === 'saltutil.find_job') continue
      rows.unshift({ JID: job.jid, ...describeJob(job) })
      if (rows.length === count) break
    }
    return shownBy(outputter, rows)
  },
)

/**
 * Show the newest matching job as `print_job` does.
 *
 * @example salt-run jobs.last_run function=cmd.run target='web*'
 */
export const last_run = fn(
  {
    ext_source,
    outputter,
    metadata: p.optional(p.record(p.any())),
    function: p.optional(p.any()),
    target: p.optional(p.any()),
    display_progress,
  },
  async (wanted, { master }) => {
    const { metadata, function: search_function, target: search_target } = wanted
    const query = queryOf({ search_metadata: metadata, search_function, search_target })
    const jobs = jobsOf(master, wanted.ext_source)
    for await (const { jid } of jobs.list({ ...query, limit: 1 })) {
      return shownBy(wanted.outputter, { [jid]: await whole(jobs, await find(jobs, jid)) })
    }
    return {}
  },
)

const which = {
  jids: p.optional(p.any()),
  search_function: search.search_function,
  search_target: search.search_target,
  search_user: search.search_user,
  start_time: search.start_time,
  end_time: search.end_time,
}

/**
 * Write jobs of the master's own job cache, with their returns, to a file of JSON lines: all jobs, those whose ids
 * `jids` lists (for a batch: all its jobs), or those that match, as in `list_jobs`. A file with the extension `.gz` is
 * compressed.
 *
 * @example salt-run jobs.export /var/backups/jobs.jsonl.gz start_time=2026-11-01
 */
const exportJobs = fn({ file: p.string(), ...which }, async ({ file, jids, ...wanted }, { master }) => {
  const ids = jids === undefined ? undefined : (Array.isArray(jids) ? jids : [jids]).map(String)
  const done = await master.jobs.archive.export(file, { ...queryOf(wanted), jids: ids })
  return { File: done.file, Jobs: done.jobs, Returns: done.returns }
})

/** Maximum number of wrong lines that are reported; all are counted. */
const MAX_REPORTED = 20

/**
 * Read a file of `jobs.export` into the master's own job cache. Jobs that exist already stay unchanged, so a file may
 * be imported again. Wrong lines are reported and left out, and the exit code is then 1. Imported jobs are kept as long
 * as new ones.
 *
 * @example salt-run jobs.import /var/backups/jobs.jsonl.gz
 */
const importJobs = fn({ file: p.string() }, async ({ file }, { master }) => {
  let reported = 0
  const onRefused = async (line: number, why: string) => {
    if (reported++ < MAX_REPORTED) await master.progress({ message: `Line ${line} was left out: ${why}.` })
  }
  const done = await master.jobs.archive.import(file, onRefused)
  const { jobs, returns, known, refused } = done
  const counts = { Jobs: jobs, Returns: returns, Known: known, Refused: refused }
  return { File: done.file, ...counts, ...(refused > 0 && { retcode: 1 }) }
})

export { exportJobs as export, importJobs as import }

/**
 * Copy the store of the master's own job cache to a file, in its current state, also while the master runs. To restore
 * it, stop the master, replace `jobs.mdb` in `job_cache` of its `cachedir` by the file, and start the master.
 *
 * @example salt-run jobs.backup /var/backups/jobs.mdb
 */
export const backup = fn({ file: p.string() }, async ({ file }, { master }) => {
  const done = await master.jobs.archive.backup(file)
  return { File: done.file, Bytes: done.bytes }
})

/** Return data in the form in which a runner selects an outputter. */
function shownBy(outputter: unknown, data: object): object {
  return typeof outputter === 'string' ? { data, outputter } : data
}

type Jobs = ReturnType<typeof jobsOf>

const jobsOf = ({ jobs }: Context['master'], source: string | undefined) => ({
  get: (jid: string) => jobs.get(jid, { source }),
  returns: (jid: string) => jobs.returns(jid, { source }),
  list: (query: JobQuery = {}) => jobs.list({ ...query, source }),
  place: source ?? 'the job cache',
})

async function find(jobs: Jobs, jid: unknown): Promise<StoredJob> {
  const job = await jobs.get(String(jid))
  if (job) return job
  if (!/^\d{20}$/.test(String(jid)))
    throw new CommandExecutionError(`'${String(jid)}' is not a job id (20 digits).`)
  throw new CommandExecutionError(
    `There is no job ${String(jid)} in ${jobs.place}. Jobs are kept for keep_jobs_seconds.`,
  )
}

async function whole(jobs: Jobs, job: StoredJob): Promise<Record<string, unknown>> {
  const results = (await jobs.returns(job.jid)).map((one) => [one.id, describeResult(one)])
  return {
    ...describeJob(job),
    ...(job.waves && { Waves: [...job.waves] }),
    Minions: [...job.minions],
    ...(job.unknown && { Unknown: [...job.unknown] }),
    Result: Object.fromEntries(results),
  }
}

function silentOf(job: StoredJob, returns: readonly StoredReturn[]): string[] {
  const others = new Set([...returns.map(({ id }) => id), ...(job.unknown ?? [])])
  return job.minions.filter((id) => !others.has(id))
}
