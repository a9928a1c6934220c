/** Running runners and wheel functions: those in the background, and those of `salt-run`. */

import { CommandExecutionError, fn, p } from 'salt-ts'
import { timeText } from '#internal'

/**
 * List all running ones but this: jid → function, arguments, user, start time, process id.
 *
 * @example salt-run runs.list
 */
export const list = fn(async (_, { master }) => {
  const runs = (await master.running()).map(({ jid, fun, fun_args, user, pid }) => [
    jid,
    { Function: fun, Arguments: fun_args, User: user, StartTime: timeText(jid), Process: pid },
  ])
  return Object.fromEntries(runs)
})

/**
 * End a run, with the processes it started. It is asked to end, and killed after three seconds. Its return reports
 * that. Jobs that it sent to minions go on; `salt '*' saltutil.kill_job` ends those.
 *
 * @example salt-run runs.kill 20261121034212345678
 */
export const kill = fn({ jid: p.any() }, async ({ jid }, { master }) => {
  if (await master.killRun(String(jid))) return true
  throw new CommandExecutionError(`No runner runs under the job id ${String(jid)}. See salt-run runs.list.`)
})
