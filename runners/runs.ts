/** Runners and wheel functions that run now: those in the background, and those of `salt-run`. */
import { CommandExecutionError, fn, p, timeText } from 'salt-ts'

/**
 * Those that run, but this one: jid → what, with which arguments, by whom, since when, in which process.
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
 * End one, with the processes it started. It is told to end, and has three seconds for that; then it is killed. Its return
 * says so, and jobs that it sent to minions go on: `salt '*' saltutil.kill_job` ends those.
 *
 * @example salt-run runs.kill 20261121034212345678
 */
export const kill = fn({ jid: p.any() }, async ({ jid }, { master }) => {
  if (await master.killRun(String(jid))) return true
  throw new CommandExecutionError(`No runner runs under the job id ${String(jid)}. See salt-run runs.list.`)
})
