/** Run commands once, at a later time, with the program `at`. */
import { fn, p, type Virtual } from 'salt-ts'
import { isWanted, readQueue, runAt } from './_at/queue.ts'
import { which } from './_cmd/which.ts'

/** Available where `at` is installed. */
export const virtual: Virtual = async () =>
  (await which('at')) !== null || 'The at module could not be loaded: at command not found'

const text = p.optional(p.string())

/**
 * List the jobs that wait, all or those with a tag or number.
 *
 * @example salt '*' at.atq
 * @example salt '*' at.atq tag=nightly
 */
export const atq = fn({ tag: text }, async ({ tag }, context) => {
  const jobs = await readQueue(context)
  return { jobs: tag ? jobs.filter((job) => job.tag === tag || String(job.job) === tag) : jobs }
})

/**
 * Remove jobs by their numbers, all jobs (`all`), or all with a tag (`all TAG`).
 *
 * @example salt '*' at.atrm 12 13
 * @example salt '*' at.atrm all
 * @example salt '*' at.atrm all nightly
 */
export const atrm = fn({ args: p.rest(p.string()) }, async ({ args }, context) => {
  const [first, tag] = args
  if (first === undefined) return { jobs: { removed: [], tag: null } }
  const jobs = await readQueue(context)
  const wanted =
    first === 'all'
      ? jobs.filter((job) => !tag || job.tag === tag || String(job.job) === tag)
      : jobs.filter(({ job }) => args.includes(String(job)))
  const removed = wanted.map(({ job }) => String(job))
  if (removed.length > 0) await runAt(['at', '-d', ...removed], context)
  return { jobs: { removed, tag: first === 'all' ? (tag ?? null) : null } }
})

/**
 * Run a command at a time, and return the job. A `tag` helps to find it again.
 *
 * @example salt '*' at.at 12:05am '/sbin/reboot' tag=reboot
 * @example salt '*' at.at '3:05am +3 days' 'bin/myscript' tag=nightly runas=jim
 */
export const at = fn(
  { args: p.rest(p.string()), tag: text, runas: text },
  async ({ args, tag, runas }, context) => {
    const [time, ...command] = args
    if (time === undefined || command.length === 0) return { jobs: [] }
    if (time.startsWith('-') || /[\r\n]/.test(tag ?? ''))
      return { jobs: [], error: 'invalid timespec or tag' }
    const script = `${tag ? `### SALT: ${tag}\n` : ''}${command.join(' ')}`
    const said = await context.call('cmd.run', {
      cmd: ['at', time],
      stdin: script,
      stdin_raw_newlines: true,
      python_shell: false,
      ...(runas !== undefined && { runas }),
    })
    if (said.trimEnd().endsWith('Garbled time')) return { jobs: [], error: 'invalid timespec' }
    const [, number] = /^job (\d+) /m.exec(said) ?? []
    if (number === undefined) return { jobs: [], error: said }
    const jobs = await readQueue(context)
    return { jobs: jobs.filter(({ job }) => job === Number(number)) }
  },
)

/**
 * Return the script that a job will run.
 *
 * @example salt '*' at.atc 12
 */
export const atc = fn({ jobid: p.string() }, async ({ jobid }, context) => {
  const script = /^\d+$/.test(jobid) ? await runAt(['at', '-c', jobid], context) : ''
  return script === '' ? { error: `invalid job id '${jobid}'` } : script
})

/**
 * List the jobs that are as described; without a condition, all.
 *
 * @example salt '*' at.jobcheck runas=jam day=13
 * @example salt '*' at.jobcheck day=13 month=12 year=13 tag=nightly
 */
export const jobcheck = fn(
  {
    runas: text,
    tag: text,
    hour: text,
    minute: text,
    day: text,
    month: text,
    year: text,
    kwargs: p.keywords(p.any({ description: 'Others have no effect.' })),
  },
  async ({ kwargs: _, ...wanted }, context) => {
    const all = await readQueue(context)
    const jobs = all.filter((job) => isWanted(job, wanted))
    return jobs.length > 0 || all.length === 0
      ? { jobs }
      : { jobs, note: 'No match jobs or time format error' }
  },
)
