/**
 * Manage the schedule of the minion.
 *
 * The schedule is the key `schedule` of the file `_schedule.conf` in the folder of `default_include`; jobs that are written in other
 * files of the configuration are not listed. No scheduler reads it yet: jobs are kept, and run by `schedule.run_job` only.
 */
import { stat } from 'node:fs/promises'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError, untyped } from 'salt-ts'
import {
  changeSchedule,
  type Job,
  readSchedule,
  readWritten,
  type Schedule,
  writtenPath,
} from './_schedule/file.ts'
import { buildJob, type Given, timeConflict } from './_schedule/item.ts'
import { jobIn, listing } from './_schedule/listing.ts'
import { isTimeIn } from './_schedule/when.ts'
import { yamlOf } from './_slsutil/yaml.ts'
import { sameValue } from './_values/merge.ts'
import { isMapping } from './_values/traverse.ts'

const name = p.string()
const kwargs = p.keywords(p.any())

interface Result {
  readonly comment: string | readonly string[]
  readonly result: boolean
  readonly changes?: Readonly<Record<string, unknown>>
}

const failed = (comment: string) => ({ comment, result: false, changes: {} })
const missing = (name: string) => failed(`Job ${name} does not exist.`)

/**
 * List the jobs of the schedule as YAML, or with `return_yaml=False` as a map. `show_all` lists also those whose names begin with
 * `__`.
 *
 * @example salt '*' schedule.list
 * @example salt '*' schedule.list show_all=True
 * @example salt '*' schedule.list show_disabled=False return_yaml=False
 */
const list = fn(
  {
    show_all: p.default(p.boolean(), false),
    show_disabled: p.default(p.boolean(), true),
    where: p.optional(p.enum('opts', 'pillar')),
    return_yaml: p.default(p.boolean(), true),
    offline: p.default(
      p.boolean({ description: 'Changes nothing: the schedule is always the file.' }),
      false,
    ),
  },
  async ({ show_all, show_disabled, where, return_yaml }, context) => {
    const kept = where === 'pillar' ? {} : await readSchedule(context)
    const listed = listing(kept, { all: show_all, disabled: show_disabled })
    if (!return_yaml) return listed
    const marked = Object.entries(listed).map(([name, job]) => [
      name,
      isMapping(job) ? { ...job, saved: true } : job,
    ])
    return `${yamlOf({ schedule: Object.fromEntries(marked) }, { default_flow_style: false })}\n`
  },
)

export { list }

/**
 * Return a job, an empty map if there is none; without a name whether the schedule is enabled.
 *
 * @example salt '*' schedule.is_enabled name=job_name
 * @example salt '*' schedule.is_enabled
 */
export const is_enabled = fn({ name: p.optional(name) }, async ({ name }, context) => {
  const listed = listing(await readSchedule(context), { all: false })
  if (!name) return listed.enabled ?? true
  return Object.hasOwn(listed, name) ? listed[name] : {}
})

/**
 * Delete all jobs, except those whose names begin with `__`.
 *
 * @example salt '*' schedule.purge
 * @example salt '*' schedule.purge test=True
 */
export const purge = fn({ kwargs }, async ({ kwargs }, context) => {
  const isJob = (name: string) => name !== 'enabled' && !name.startsWith('__')
  if (kwargs.test) {
    const names = Object.keys(await readSchedule(context)).filter(isJob)
    return {
      comment: names.map((name) => `Job: ${name} would be deleted from schedule.`),
      changes: {},
      result: true,
    }
  }
  let removed: string[] = []
  await change(kwargs, context, (schedule) => {
    removed = Object.keys(schedule).filter(isJob)
    return Object.fromEntries(Object.entries(schedule).filter(([name]) => !isJob(name)))
  })
  return {
    comment: removed.map((name) => `Deleted job: ${name} from schedule.`),
    changes: Object.fromEntries(removed.map((name) => [name, 'removed'])),
    result: true,
  }
})

/**
 * Delete a job.
 *
 * @example salt '*' schedule.delete job1
 */
const remove = fn({ name, kwargs }, async ({ name, kwargs }, context): Promise<Result> => {
  if (kwargs.test) {
    return { comment: `Job: ${name} would be deleted from schedule.`, result: true, changes: {} }
  }
  let outcome: Result = missing(name)
  await change(kwargs, context, (schedule) => {
    if (jobIn(schedule, name) === undefined) return undefined
    outcome = { comment: `Deleted Job ${name} from schedule.`, result: true, changes: { [name]: 'removed' } }
    const { [name]: _, ...rest } = schedule
    return rest
  })
  return outcome
})

export { remove as delete }

/**
 * Return a job as `schedule.add` stores it, or what is wrong with its arguments.
 *
 * `job_args` is a list and `job_kwargs` a map; `seconds`, `minutes`, `hours` and `days` exclude `when` and `cron`.
 *
 * @example salt '*' schedule.build_schedule_item job1 function='test.ping' seconds=3600
 */
export const build_schedule_item = fn({ name, kwargs }, ({ name, kwargs }) => {
  const built = buildJob(name, kwargs)
  return typeof built === 'string' ? { comment: built, result: false } : built
})

/**
 * Add a job.
 *
 * @example salt '*' schedule.add job1 function='test.ping' seconds=3600
 * @example salt '*' schedule.add job2 function='cmd.run' job_args="['date >> /tmp/date.log']" seconds=60
 */
export const add = fn({ name, kwargs }, async ({ name, kwargs }, context): Promise<Result> => {
  const exists = failed(`Job ${name} already exists in schedule.`)
  if (Object.hasOwn(await readSchedule(context), name)) return exists
  const problem = conflict(kwargs, 'with "when" or "cron" options.')
  if (problem !== undefined) return failed(problem)
  const built = buildJob(name, kwargs)
  if (typeof built === 'string') return { comment: built, result: false }
  if (kwargs.test) return { comment: `Job: ${name} would be added to schedule.`, result: true, changes: {} }
  let outcome: Result = exists
  await change(kwargs, context, (schedule) => {
    if (Object.hasOwn(schedule, name)) return undefined
    outcome = { comment: `Added job: ${name} to schedule.`, result: true, changes: { [name]: 'added' } }
    return { ...schedule, [name]: built }
  })
  return outcome
})

/**
 * Replace a job by one that is built of the arguments; without `function` it keeps that of the old one.
 *
 * @example salt '*' schedule.modify job1 function='test.ping' seconds=3600
 */
export const modify = fn({ name, kwargs }, async ({ name, kwargs }, context): Promise<Result> => {
  const problem = conflict(kwargs, 'with "when" option.')
  if (problem !== undefined) return { comment: problem, changes: {}, result: false }
  const plan = (schedule: Schedule) => modified(name, kwargs, schedule)
  if (kwargs.test) return plan(await readSchedule(context)).outcome
  let outcome: Result | undefined
  await change(kwargs, context, (schedule) => {
    const planned = plan(schedule)
    outcome = planned.outcome
    return planned.job && { ...schedule, [name]: planned.job }
  })
  return outcome as Result
})

function modified(name: string, kwargs: Given, schedule: Schedule): { outcome: Result; job?: Job } {
  const old = jobIn(schedule, name)
  if (!old) return { outcome: failed(`Job ${name} does not exist in schedule.`) }
  const built = buildJob(name, { function: old.function, ...kwargs })
  if (typeof built === 'string') return { outcome: { comment: built, result: false } }
  if (sameValue(old, built)) {
    return { outcome: { comment: `Job ${name} in correct state`, changes: {}, result: true } }
  }
  const changes = { [name]: { old, new: built } }
  const comment = kwargs.test
    ? `Job: ${name} would be modified in schedule.`
    : `Modified job: ${name} in schedule.`
  const job = kwargs.offline ? { ...(schedule[name] as Job), ...built } : built
  return { outcome: { comment, changes, result: true }, job }
}

/**
 * Run the function of a job now, and return its result as `return`. A disabled job runs with `force` only.
 *
 * @example salt '*' schedule.run_job job1
 * @example salt '*' schedule.run_job job1 force=True
 */
export const run_job = fn(
  { name, force: p.default(p.boolean(), false) },
  async ({ name, force }, context) => {
    const schedule = await readSchedule(context)
    const job = jobIn(schedule, name)
    if (!job) return { comment: `Job ${name} does not exist.`, result: false }
    if (!job.enabled && !force) return { comment: `Job ${name} is disabled.`, result: true }
    const { function: fun = (schedule[name] as Job).func ?? (schedule[name] as Job).fun, args, kwargs } = job
    if (typeof fun !== 'string') {
      throw new CommandExecutionError(`The job ${name} has no single function, so that it cannot be run.`)
    }
    try {
      const given = args === undefined ? [] : [args].flat()
      const returned = await context.call(untyped(fun), given, isMapping(kwargs) ? (kwargs as Job) : {})
      return { comment: `Scheduling Job ${name} on minion.`, result: true, return: returned }
    } catch (error) {
      context.retcode = 1
      return { comment: `Failed to run job ${name} on minion: ${(error as Error).message}`, result: false }
    }
  },
)

/**
 * Enable a job.
 *
 * @example salt '*' schedule.enable_job job1
 */
export const enable_job = fn({ name, kwargs }, ({ name, kwargs }, context) =>
  setEnabled(name, true, kwargs, context),
)

/**
 * Disable a job.
 *
 * @example salt '*' schedule.disable_job job1
 */
export const disable_job = fn({ name, kwargs }, ({ name, kwargs }, context) =>
  setEnabled(name, false, kwargs, context),
)

async function setEnabled(name: string, enabled: boolean, kwargs: Given, context: Context): Promise<Result> {
  const word = enabled ? 'enabled' : 'disabled'
  if (kwargs.test || context.opts.test) {
    return { comment: `Job: ${name} would be ${word} in schedule.`, result: true, changes: {} }
  }
  let outcome: Result = missing(name)
  await change(kwargs, context, (schedule) => {
    if (jobIn(schedule, name) === undefined) return undefined
    const comment = `${enabled ? 'Enabled' : 'Disabled'} Job ${name} in schedule.`
    outcome = { comment, result: true, changes: { [name]: word } }
    return { ...schedule, [name]: { ...(schedule[name] as Job), enabled } }
  })
  return outcome
}

/**
 * Save the schedule. It is in its file already, so that nothing changes.
 *
 * @example salt '*' schedule.save
 */
export const save = fn({ kwargs }, ({ kwargs }) => ({
  comment: kwargs.test ? 'Schedule would be saved.' : 'Schedule (non-pillar items) saved.',
  result: true,
}))

/**
 * Enable the whole schedule.
 *
 * @example salt '*' schedule.enable
 */
export const enable = fn({ kwargs }, ({ kwargs }, context) => setAllEnabled(true, kwargs, context))

/**
 * Disable the whole schedule.
 *
 * @example salt '*' schedule.disable
 */
export const disable = fn({ kwargs }, ({ kwargs }, context) => setAllEnabled(false, kwargs, context))

async function setAllEnabled(enabled: boolean, kwargs: Given, context: Context): Promise<Result> {
  const word = enabled ? 'enabled' : 'disabled'
  if (kwargs.test) return { comment: `Schedule would be ${word}.`, changes: {}, result: true }
  await change(kwargs, context, (schedule) => ({ ...schedule, enabled }))
  const comment = `${enabled ? 'Enabled' : 'Disabled'} schedule on minion.`
  return { comment, changes: { schedule: word }, result: true }
}

/**
 * Take over the jobs of the file `schedule.conf` beside `_schedule.conf`, if there is one.
 *
 * @example salt '*' schedule.reload
 */
export const reload = fn({}, async (_, context) => {
  const isThere = await stat(writtenPath(context)).then(
    (found) => found.isFile(),
    () => false,
  )
  if (!isThere) return { comment: [], result: true }
  const written = await readWritten(context)
  if (Object.keys(written).length === 0) {
    const comment = ['Failed to reload schedule on minion.  Saved file is empty or invalid.']
    return { comment, result: false }
  }
  await changeSchedule(context, (schedule) => ({ ...schedule, ...written }))
  return { comment: ['Reloaded schedule on minion from schedule.conf.'], result: true }
})

/**
 * Move a job to other minions: publish `schedule.add` to them, and delete it here if all have added it.
 *
 * @example salt '*' schedule.move jobname target
 */
export const move = fn({ name, target: p.any(), kwargs }, async ({ name, target, kwargs }, context) => {
  if (kwargs.test) return { comment: `Job: ${name} would be moved from schedule.`, result: true }
  const sent = await send(name, target, context)
  if (!('minions' in sent) || !sent.isAdded) return resultOf(sent)
  await remove.run({ name, kwargs: {} }, context)
  return { comment: `Moved Job ${name} from schedule.`, result: true, minions: sent.minions }
})

/**
 * Copy a job to other minions: publish `schedule.add` to them.
 *
 * @example salt '*' schedule.copy jobname target
 */
export const copy = fn({ name, target: p.any(), kwargs }, async ({ name, target, kwargs }, context) => {
  if (kwargs.test) return { comment: `Job: ${name} would be copied from schedule.`, result: true }
  const sent = await send(name, target, context)
  if (!('minions' in sent) || !sent.isAdded) return resultOf(sent)
  return { comment: `Copied Job ${name} from schedule to minion(s).`, result: true, minions: sent.minions }
})

interface Sent {
  readonly isAdded: boolean
  readonly comment: string
  readonly result: boolean
  readonly minions?: readonly string[]
}

const resultOf = ({ isAdded: _, ...result }: Sent) => result

async function send(name: string, target: unknown, context: Context): Promise<Sent> {
  const job = jobIn(await readSchedule(context), name)
  if (!job) return { isAdded: false, comment: `Job ${name} does not exist.`, result: false }
  const { args, kwargs, ...rest } = job
  const given = {
    ...rest,
    name,
    ...(args !== undefined && { job_args: args }),
    ...(kwargs !== undefined && { job_kwargs: kwargs }),
  }
  const arg = Object.entries(given).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  const answers = Object.entries(
    await context.call('publish.publish', { tgt: target, fun: 'schedule.add', arg }),
  )
  if (answers.length === 0) {
    return { isAdded: false, comment: 'no servers answered the published schedule.add command', result: true }
  }
  const refused = answers.filter(([, answer]) => !isMapping(answer) || !(answer as unknown as Result).result)
  if (refused.length === 0)
    return { isAdded: true, comment: '', result: true, minions: answers.map(([id]) => id) }
  return {
    isAdded: false,
    comment: 'the following minions return False',
    result: true,
    minions: refused.map(([id]) => id),
  }
}

/**
 * Refused for a job that is there: no scheduler runs yet that could run it at another time. `time_fmt` is the format of both times.
 *
 * @example salt '*' schedule.postpone_job job 2026-11-28T17:00:00 2026-11-28T18:00:00
 */
export const postpone_job = fn(
  { name, current_time: p.string(), new_time: p.string(), kwargs },
  async ({ name, current_time, new_time, kwargs }, context): Promise<Result> => {
    const times = { 'current time': current_time, new_time }
    return (await problemWith(name, times, kwargs, context)) ?? withoutScheduler('A job cannot be postponed')
  },
)

/**
 * Refused for a job that is there: no scheduler runs yet that could skip it. `time_fmt` is the format of the time.
 *
 * @example salt '*' schedule.skip_job job 2026-11-28T17:00:00
 */
export const skip_job = fn(
  { name, current_time: p.string(), kwargs },
  async ({ name, current_time, kwargs }, context): Promise<Result> =>
    (await problemWith(name, { time: current_time }, kwargs, context)) ??
    withoutScheduler('A job cannot be skipped'),
)

/** Say what is wrong with the name and the times of a job; undefined if nothing is. */
async function problemWith(
  name: string,
  times: Readonly<Record<string, string>>,
  { time_fmt }: Given,
  context: Context,
): Promise<Result | undefined> {
  const wrong = (comment: string): Result => ({ comment, result: false })
  if (name === '') return wrong('Job name is required.')
  const format = String(time_fmt || '%Y-%m-%dT%H:%M:%S')
  for (const [which, time] of Object.entries(times)) {
    if (time === '') return wrong(`Job ${which} is required.`)
    if (!isTimeIn(format, time)) return wrong('Date string could not be parsed.')
  }
  const isThere = jobIn(await readSchedule(context), name) !== undefined
  return isThere ? undefined : wrong(`Job ${name} does not exist.`)
}

/**
 * Refused: there is no scheduler yet that knows when a job runs.
 *
 * @example salt '*' schedule.show_next_fire_time job_name
 */
export const show_next_fire_time = fn({ name, kwargs }, () => withoutScheduler('No job has a next time'))

/**
 * Return a job with all that the file has about it, an empty map if there is none.
 *
 * @example salt '*' schedule.job_status job_name
 */
export const job_status = fn(
  { name, time_fmt: p.default(p.string(), '%Y-%m-%dT%H:%M:%S') },
  async ({ name }, context) => {
    const schedule = await readSchedule(context)
    return jobIn(schedule, name) ? (schedule[name] as Job) : {}
  },
)

function withoutScheduler(what: string): never {
  throw new CommandExecutionError(
    `${what}: the minion has no scheduler yet. Its jobs are kept in a file, and run by schedule.run_job only.`,
  )
}

/** Change the file of the schedule. */
async function change(
  { persist = true }: Given,
  context: Context,
  edit: (schedule: Schedule) => Schedule | undefined,
): Promise<void> {
  if (!persist) {
    throw new SaltInvocationError(
      'persist=False keeps a change in a running scheduler only, and the minion has none yet. Leave it out.',
    )
  }
  await changeSchedule(context, edit)
}

/** Return the conflict of times in the words of `schedule.add` and `schedule.modify`. */
function conflict(kwargs: Given, end: string): string | undefined {
  const found = timeConflict(kwargs)
  return found?.includes('seconds')
    ? `Error: Unable to use "seconds", "minutes", "hours", or "days" ${end}`
    : found
}
