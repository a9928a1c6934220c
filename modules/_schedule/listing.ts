import { isMapping } from '../_values/traverse.ts'
import type { Job, Schedule } from './file.ts'

/** What a job may have; the rest, such as what a running scheduler remembers, is not listed. */
const KEYS = new Set(
  `name maxrunning function splay range when once once_fmt returner jid_include args kwargs seconds minutes hours days
  enabled return_job metadata cron until after return_config return_kwargs run_on_start skip_during_range
  run_after_skip_range`.split(/\s+/),
)

interface Which {
  /** List also jobs whose names begin with `__`. */
  readonly all: boolean
  readonly disabled?: boolean
}

/** Return a schedule as it is listed: each job says whether it is enabled. */
export function listing(schedule: Schedule, { all, disabled = true }: Which): Schedule {
  const entries = Object.entries(schedule)
    .filter(([name]) => all || !name.startsWith('__'))
    .map(([name, job]): [string, unknown] => [name, isMapping(job) ? listedJob(job as Job) : job])
  return Object.fromEntries(entries.filter(([, job]) => disabled || !isMapping(job) || (job as Job).enabled))
}

/** Return the job of this name as it is listed; undefined for settings such as `enabled`. */
export function jobIn(schedule: Schedule, name: string): Job | undefined {
  const job = Object.hasOwn(schedule, name) ? schedule[name] : undefined
  return isMapping(job) ? listedJob(job as Job) : undefined
}

function listedJob(job: Job): Job {
  const members = Object.entries(job).filter(([key, value]) => KEYS.has(key) && value !== null)
  const read = members.map(([key, value]) => [
    key,
    value === 'true' ? true : value === 'false' ? false : value,
  ])
  return { enabled: true, ...Object.fromEntries(read) }
}
