import { SaltInvocationError } from 'salt-ts'
import { isMapping, type Mapping, traverse } from '../_values/traverse.ts'
import type { Job } from './file.ts'
import { isTime } from './when.ts'

export type Given = Readonly<Record<string, unknown>>

const INTERVALS = ['seconds', 'minutes', 'hours', 'days']
const OTHERS = `range when once once_fmt cron returner after return_config return_kwargs until run_on_start
  skip_during_range`.split(/\s+/)

const WITH_INTERVAL = 'Unable to use "seconds", "minutes", "hours", or "days" with "when" or "cron" options.'
const TOGETHER = 'Unable to use "when" and "cron" options together.  Ignoring.'

/** Return what is wrong with the times of a job. */
export function timeConflict(given: Given): string | undefined {
  const has = (name: string) => Object.hasOwn(given, name)
  if (INTERVALS.some(has) && (has('when') || has('cron'))) return WITH_INTERVAL
  return has('when') && has('cron') ? TOGETHER : undefined
}

/** Build a job of what the caller gave, or return what is wrong with that. */
export function buildJob(name: string, given: Given): Job | string {
  const problem = name === '' ? 'Job name is required.' : (timeConflict(given) ?? argumentProblem(given))
  if (problem !== undefined) return problem
  const { job_args, job_kwargs, splay } = given
  return {
    function: functionOf(given),
    ...picked(given, [...INTERVALS, 'return_job', 'metadata']),
    ...(job_args !== undefined && { args: job_args }),
    ...(job_kwargs !== undefined && { kwargs: job_kwargs }),
    maxrunning: given.maxrunning ?? 1,
    name: given.name ?? name,
    enabled: given.enabled ?? true,
    jid_include: given.jid_include ?? true,
    ...(splay !== undefined && { splay: isMapping(splay) ? orderedSplay(splay) : splay }),
    ...picked(given, OTHERS),
  }
}

function functionOf({ function: fun }: Given): unknown {
  if (typeof fun === 'string' && fun !== '') return fun
  if (Array.isArray(fun) && fun.length > 0) return fun
  throw new SaltInvocationError(
    "'function' is missing: name the function that the job runs, as in function=test.ping.",
  )
}

function argumentProblem({ job_args, job_kwargs, when }: Given): string | undefined {
  if (job_args !== undefined && !Array.isArray(job_args))
    return 'job_args is not a list. please correct and try again.'
  if (job_kwargs !== undefined && !isMapping(job_kwargs))
    return 'job_kwargs is not a dict. please correct and try again.'
  const wrong = when === undefined ? undefined : [when].flat().find((time) => !isTime(time))
  return wrong === undefined ? undefined : `Schedule item ${String(wrong)} for "when" in invalid.`
}

const picked = (given: Given, names: readonly string[]): Job =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]))

function orderedSplay(splay: Mapping): Job {
  const [start, end] = ['start', 'end'].map((name) => traverse(splay, name, undefined))
  if (start !== undefined && end !== undefined) return { start, end }
  throw new SaltInvocationError('A splay that is a map needs start and end.')
}
