import type { Context } from 'salt-ts'
import { type Outcome, runProgram } from '../_program/run.ts'
import { scriptName } from './names.ts'

/** Return all services with their runlevels. */
export async function serviceRunlevels(context: Context): Promise<Map<string, string[]>> {
  const { stdout } = await runProgram(['rc-update', '-v', 'show'], context, { ignoreRetcode: true })
  return readRunlevels(stdout)
}

/** Read the table of `rc-update -v show`: `  sshd |      default`. */
export function readRunlevels(table: string): Map<string, string[]> {
  const rows = table.split('\n').filter((line) => line.includes('|'))
  return new Map(
    rows.map((line) => {
      const [name = '', levels = ''] = line.split('|')
      return [name.trim(), levels.split(/\s+/).filter(Boolean).sort()]
    }),
  )
}

/** Read `rc-status --servicelist`: ` sshd  [  started 00:10:02 (0) ]`. Returns the names of those that run, sorted. */
export function readStarted(table: string): string[] {
  return table
    .split('\n')
    .flatMap((line) => /^\s*(\S+)\s+\[\s*started\b/.exec(line)?.[1] ?? [])
    .sort()
}

/** Return the names of the services that run, sorted. */
export async function runningServices(context: Context): Promise<string[]> {
  const words = ['rc-status', '--nocolor', '--servicelist'] as const
  return readStarted((await runProgram([...words], context, { ignoreRetcode: true })).stdout)
}

/** Run the script of a service; true if it succeeds. */
export async function runScript(
  name: string,
  action: string,
  context: Context,
  options: { readonly ignoreRetcode?: boolean } = {},
): Promise<boolean> {
  return (await runProgram(['rc-service', scriptName(name), action], context, options)).retcode === 0
}

/** Add a service to runlevels, or delete it from them: the current one if none is named. */
export const changeRunlevels = (
  verb: 'add' | 'delete',
  name: string,
  levels: readonly string[],
  context: Context,
): Promise<Outcome> =>
  runProgram(['rc-update', verb, scriptName(name), ...levels.map(scriptName).sort()], context)
