/**
 * Manage the crontabs of users.
 *
 * A job that Salt manages is found by its `identifier`, or by its command if it has none. A `%` and other characters that
 * cron interprets have to be escaped by the caller.
 */
import { fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { changeCrontab, readCrontab, writeCrontab } from './_cron/crontab.ts'
import { checkLines, checkWords, hasTimes, isMeant, removeJob, setJob } from './_cron/jobs.ts'
import { envValue, parseTab } from './_cron/tab.ts'

export const virtual: Virtual = async () =>
  (await which('crontab')) !== null || 'Cannot load cron module: crontab command not found'

const user = p.string()
const text = p.optional(p.string())
const notes = { commented: p.default(p.boolean(), false), comment: text, identifier: text }
const jobToRemove = {
  user,
  cmd: p.string(),
  minute: text,
  hour: text,
  daymonth: text,
  month: text,
  dayweek: text,
  identifier: text,
}

/**
 * Return the crontab of a user as text.
 *
 * @example salt '*' cron.raw_cron root
 */
export const raw_cron = fn({ user }, ({ user }, context) => readCrontab(user, context))

/**
 * Return the crontab of a user: `crons`, `special` (such as `@daily`) and `env` are what Salt manages, `pre` are the lines
 * above.
 *
 * @example salt '*' cron.list_tab root
 */
export const list_tab = fn({ user }, async ({ user }, context) => parseTab(await readCrontab(user, context)))

/**
 * Return the crontab of a user, as `cron.list_tab` does.
 *
 * @example salt '*' cron.ls root
 */
export const ls = fn({ user }, async ({ user }, context) => parseTab(await readCrontab(user, context)))

/**
 * Return the job with an identifier, or else with a command. False if there is none.
 *
 * @example salt '*' cron.get_entry root identifier=task1
 */
export const get_entry = fn(
  { user, identifier: text, cmd: text },
  async ({ user, identifier, cmd }, context) => {
    if (identifier && cmd) {
      context.log.warn('Both identifier and cmd are specified. Only using identifier.')
    }
    const { crons, special } = parseTab(await readCrontab(user, context))
    const found = [...crons, ...special].find((job) =>
      identifier ? job.identifier === identifier : cmd !== undefined && job.cmd === cmd,
    )
    return found ?? false
  },
)

/**
 * Set a job, and return `new`, `updated` or `present`, or what crontab says if it refuses it.
 *
 * A time may be `random`, which is chosen once, or in all fields but `daymonth` a range to choose from, such as `5:20`.
 *
 * @example salt '*' cron.set_job root '*' '*' '*' '*' 1 /usr/local/weekly
 * @example salt '*' cron.set_job root random 2 '*' '*' '*' /usr/local/nightly identifier=nightly comment='Backs up'
 */
export const set_job = fn(
  {
    user,
    minute: p.string(),
    hour: p.string(),
    daymonth: p.string(),
    month: p.string(),
    dayweek: p.string(),
    cmd: p.string(),
    ...notes,
  },
  ({ user, cmd, commented, comment = null, identifier = null, ...given }, context) => {
    checkLines({ cmd, identifier: identifier ?? undefined })
    checkWords(given)
    const times = {
      minute: given.minute.toLowerCase(),
      hour: given.hour.toLowerCase(),
      daymonth: given.daymonth.toLowerCase(),
      month: given.month.toLowerCase(),
      dayweek: given.dayweek.toLowerCase(),
    }
    const job = { ...times, cmd, commented, comment, identifier }
    return changeCrontab(user, context, (tab) => setJob(tab, job))
  },
)

/**
 * Set a job with a nickname for its times, such as `@daily` or `@reboot`. Returns what `cron.set_job` returns.
 *
 * @example salt '*' cron.set_special root @hourly 'echo foobar'
 */
export const set_special = fn(
  { user, special: p.string(), cmd: p.string(), ...notes },
  ({ user, special: spec, cmd, commented, comment = null, identifier = null }, context) => {
    checkLines({ cmd, identifier: identifier ?? undefined })
    checkWords({ special: spec })
    const job = { spec, cmd, commented, comment, identifier }
    return changeCrontab(user, context, (tab) => setJob(tab, job))
  },
)

/**
 * Set a variable, and return `new`, `updated` or `present`.
 *
 * @example salt '*' cron.set_env root MAILTO user@example.com
 */
export const set_env = fn({ user, name: p.string(), value: text }, ({ user, name, value }, context) => {
  checkLines({ value })
  checkVariable(name)
  return changeCrontab(user, context, (tab) => {
    const present = tab.env.find((variable) => variable.name === name)
    if (present?.value === envValue(value)) return 'present'
    tab.env = [...tab.env.filter((variable) => variable !== present), { name, value: envValue(value) }]
    return present ? 'updated' : 'new'
  })
})

/** A name with spaces or `=` would make another line: that of a job. */
function checkVariable(name: string): void {
  if (/^[A-Za-z_]\w*$/.test(name)) return
  throw new SaltInvocationError(`${JSON.stringify(name)} is not the name of a variable`)
}

/**
 * Remove a job, and return `removed` or `absent`. With times only a job that has these is removed.
 *
 * @example salt '*' cron.rm_job root /usr/local/weekly
 * @example salt '*' cron.rm_job root /usr/bin/foo dayweek=1
 */
export const rm_job = fn(jobToRemove, ({ user, cmd, identifier, ...times }, context) =>
  changeCrontab(user, context, (tab) => {
    const found = tab.crons.find((job) => isMeant(job, cmd, identifier) && hasTimes(job, times))
    if (found) removeJob(tab, found)
    return found ? 'removed' : 'absent'
  }),
)

/**
 * Remove a job, as `cron.rm_job` does.
 *
 * @example salt '*' cron.rm root /usr/local/weekly
 */
export const rm = fn(jobToRemove, (given, context) => rm_job.run(given, context))

/**
 * Remove a job with a nickname for its times, and return `removed` or `absent`.
 *
 * @example salt '*' cron.rm_special root /usr/bin/foo
 */
export const rm_special = fn(
  { user, cmd: p.string(), special: text, identifier: text },
  ({ user, cmd, special, identifier }, context) =>
    changeCrontab(user, context, (tab) => {
      const found = tab.special.find(
        (job) => isMeant(job, cmd, identifier) && (special === undefined || job.spec === special),
      )
      if (found) removeJob(tab, found)
      return found ? 'removed' : 'absent'
    }),
)

/**
 * Remove a variable, and return `removed` or `absent`.
 *
 * @example salt '*' cron.rm_env root MAILTO
 */
export const rm_env = fn({ user, name: p.string() }, ({ user, name }, context) =>
  changeCrontab(user, context, (tab) => {
    const others = tab.env.filter((variable) => variable.name !== name)
    const result = others.length < tab.env.length ? 'removed' : 'absent'
    tab.env = others
    return result
  }),
)

/**
 * Replace the crontab of a user by a file, and return whether that succeeded.
 *
 * @example salt '*' cron.write_cron_file root /tmp/new_cron
 */
export const write_cron_file = fn(
  { user, path: p.string() },
  async ({ user, path }, context) => (await writeCrontab(user, path, context)).retcode === 0,
)

/**
 * Replace the crontab of a user by a file, and return pid, retcode, stdout and stderr of crontab.
 *
 * @example salt '*' cron.write_cron_file_verbose root /tmp/new_cron
 */
export const write_cron_file_verbose = fn({ user, path: p.string() }, ({ user, path }, context) =>
  writeCrontab(user, path, context),
)
