/** Jobs: those that run, and those the job cache remembers. */
import { CommandExecutionError, type Context, fn, p, type StoredJob, type StoredReturn } from 'salt-ts'
import { describeJob, describeResult, matchesSearch } from './_jobs/describe.ts'

const display_progress = p.default(p.boolean(), false)
const outputter = p.optional(p.string())
/** Only the master's own job cache can be asked so far. */
const ext_source = p.optional(p.enum('local_cache'))
const search = {
  ext_source,
  outputter,
  search_metadata: p.optional(p.record(p.any())),
  search_function: p.optional(p.any()),
  search_target: p.optional(p.any()),
  start_time: p.optional(p.string()),
  end_time: p.optional(p.string()),
}

/**
 * Jobs that run now, by asking every minion.
 *
 * @example salt-run jobs.active
 */
export const active = fn({ display_progress }, async (args, { master }) => {
  const jobs = new Map<string, { job: Record<string, unknown>; running: Record<string, unknown>[] }>()
  for await (const result of master.run({ tgt: '*', fun: 'saltutil.running' })) {
    if (args.display_progress) await master.progress({ message: `Received reply from minion ${result.id}` })
    for (const job of jobsIn(result.return)) {
      const entry = jobs.get(job.jid) ?? { job, running: [] }
      entry.running.push({ [result.id]: job.pid ?? null })
      jobs.set(job.jid, entry)
    }
  }
  const rows = [...jobs].map(async ([jid, { job, running }]) => {
    const returned = (await master.jobs.returns(jid)).map(({ id }) => id)
    const stored = (await master.jobs.get(jid))?.load ?? job
    return [jid, { ...describeJob(jid, stored), Running: running, Returned: returned }] as const
  })
  return Object.fromEntries(await Promise.all(rows))
})

function jobsIn(answer: unknown): (Record<string, unknown> & { jid: string })[] {
  if (!Array.isArray(answer)) return []
  return answer.filter((job) => typeof job?.jid === 'string' && job.fun !== 'saltutil.running')
}

/**
 * Runners and wheel functions that run in the background now.
 *
 * @example salt-run jobs.master
 */
export const master = fn((_, context) => context.master.running())

/**
 * What the minions returned for a job. With `missing` also what is known of those that did not: whether the job runs
 * there, waits for its turn, …; they are asked, if a master runs.
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
  async ({ jid, returned, missing }, { master }) => {
    const job = await find(master, jid)
    const returns = await master.jobs.returns(job.jid)
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
 * One job: what was asked of whom, when, by whom, and what came back.
 *
 * @example salt-run jobs.list_job 20261121034212345678
 */
export const list_job = fn({ jid: p.any(), ext_source, display_progress }, async ({ jid }, { master }) => {
  const job = await find(master, jid)
  return { jid: job.jid, ...(await whole(master, job)) }
})

/**
 * One job as `list_job` shows it, under its jid.
 *
 * @example salt-run jobs.print_job 20261121034212345678
 */
export const print_job = fn({ jid: p.any(), ext_source }, async ({ jid }, { master }) => {
  const job = await find(master, jid)
  return { [job.jid]: await whole(master, job) }
})

/**
 * Whether the job succeeded, by minion. A minion that has not returned has not succeeded.
 *
 * @example salt-run jobs.exit_success 20261121034212345678
 */
export const exit_success = fn({ jid: p.any(), ext_source }, async ({ jid }, { master }) => {
  const job = await find(master, jid)
  const returns = await master.jobs.returns(job.jid)
  return Object.fromEntries([
    ...returns.map(({ id, success, retcode }) => [id, success ?? retcode === 0]),
    ...silentOf(job, returns).map((id) => [id, false]),
  ])
})

/**
 * Stored jobs, newest first. `search_function` and `search_target` are globs or lists of globs; `start_time` and
 * `end_time` are dates, such as `2026-11-21 03:42`.
 *
 * @example salt-run jobs.list_jobs search_function='cmd.*' start_time=2026-11-21
 */
export const list_jobs = fn({ ...search, display_progress }, async (wanted, { master }) => {
  const rows: Record<string, unknown> = {}
  for await (const { jid, load } of master.jobs.list()) {
    if (matchesSearch(jid, load, wanted)) rows[jid] = describeJob(jid, load)
  }
  return shownBy(wanted.outputter, rows)
})

/**
 * The newest `count` jobs as a list, the newest last, without those that only look for others.
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
  async ({ count, filter_find_job, outputter }, { master }) => {
    const rows: Record<string, unknown>[] = []
    for await (const { jid, load } of master.jobs.list()) {
      if (filter_find_job && load.fun === 'saltutil.find_job') continue
      rows.unshift({ JID: jid, ...describeJob(jid, load) })
      if (rows.length === count) break
    }
    return shownBy(outputter, rows)
  },
)

/**
 * The newest job that fits, as `print_job` shows it.
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
    const query = {
      search_metadata: wanted.metadata,
      search_function: wanted.function,
      search_target: wanted.target,
    }
    for await (const job of master.jobs.list()) {
      if (matchesSearch(job.jid, job.load, query)) {
        return shownBy(wanted.outputter, { [job.jid]: await whole(master, job) })
      }
    }
    return {}
  },
)

/** The form in which a runner names an outputter. */
function shownBy(outputter: unknown, data: object): object {
  return typeof outputter === 'string' ? { data, outputter } : data
}

async function find({ jobs }: Context['master'], jid: unknown): Promise<StoredJob> {
  const job = await jobs.get(String(jid))
  if (job) return job
  throw new CommandExecutionError(
    `There is no job ${String(jid)} in the job cache. Jobs are kept for keep_jobs_seconds.`,
  )
}

async function whole({ jobs }: Context['master'], job: StoredJob): Promise<Record<string, unknown>> {
  const results = (await jobs.returns(job.jid)).map((one) => [one.id, describeResult(one)])
  return {
    ...describeJob(job.jid, job.load),
    ...(job.waves && { Waves: [...job.waves] }),
    Minions: [...job.minions],
    Result: Object.fromEntries(results),
  }
}

function silentOf(job: StoredJob, returns: readonly StoredReturn[]): string[] {
  const returned = new Set(returns.map(({ id }) => id))
  return job.minions.filter((id) => !returned.has(id))
}
