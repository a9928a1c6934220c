import type { Context } from 'salt-ts'
import { runProgram } from '../_program/run.ts'
import { scriptName } from './names.ts'
import { currentRunlevel, isScript, startedAt } from './sysv.ts'

const chkconfig = (
  words: readonly string[],
  context: Context,
  options: { readonly ignoreRetcode?: boolean } = {},
) => runProgram(['chkconfig', ...words], context, options)

/** Whether chkconfig knows a service. */
export async function isManaged(name: string, context: Context): Promise<boolean> {
  return (await chkconfig(['--list', scriptName(name)], context, { ignoreRetcode: true })).retcode === 0
}

/** Whether a service is started in the current runlevel, as chkconfig says or a start link shows. */
export async function isStarted(name: string, level: string, context: Context): Promise<boolean> {
  const { retcode, stdout } = await chkconfig(['--list', scriptName(name)], context, { ignoreRetcode: true })
  if (retcode === 0 && readStarted(stdout, name, level)) return true
  return (await startedAt(level, '/', '/etc/rc.d')).includes(name)
}

/** Read the line of a service in the table of chkconfig: `sshd 0:off … 3:on …`, or `rsync on` of one that xinetd starts. */
export function readStarted(table: string, name: string, level: string): boolean {
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/))
  return rows.some(
    ([service = '', ...states]) =>
      service.replace(/:$/, '') === name && (states.includes(`${level}:on`) || states.join(' ') === 'on'),
  )
}

/** Return the services that chkconfig lists by runlevel and that have a script, sorted. */
export async function managedServices(context: Context): Promise<string[]> {
  const { stdout } = await chkconfig(['--list'], context, { ignoreRetcode: true })
  const scripts: string[] = []
  for (const name of readServices(stdout)) if (await isScript(name)) scripts.push(name)
  return scripts.sort()
}

/** Read the names of services in the table of chkconfig that have a state for each runlevel. */
export function readServices(table: string): string[] {
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/))
  return rows.flatMap(([name = '', first]) => (first?.startsWith('0:') ? [name] : []))
}

/** Return the runlevel of this host; 3 where nobody knows it. */
export const runlevel = (context: Context): Promise<string> => currentRunlevel('3', context)

/** Let a service be started at boot, or not. One that chkconfig does not know is added first. */
export async function switchService(name: string, to: 'on' | 'off', context: Context): Promise<boolean> {
  if (!(await isManaged(name, context)) && !(await add(name, context))) return false
  return (await chkconfig([name, to], context)).retcode === 0
}

async function add(name: string, context: Context): Promise<boolean> {
  const added = (await chkconfig(['--add', name], context)).retcode === 0
  if (added) context.log.info(`Added initscript "${name}" to chkconfig`)
  else context.log.error(`Unable to add initscript "${name}" to chkconfig`)
  return added
}

/** Remove a service from those that chkconfig knows. Its script stays. */
export async function removeService(name: string, context: Context): Promise<boolean> {
  return (await isManaged(name, context)) && (await chkconfig(['--del', name], context)).retcode === 0
}
