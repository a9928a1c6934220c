import { constants } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { runProgram } from '../_program/run.ts'
import { scriptName } from './names.ts'

/** Return the names in a folder, sorted; none if it is not there. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort()
}

/** Return the names in /etc/init.d, without hidden ones. */
export async function initFiles(root = '/'): Promise<string[]> {
  return (await namesIn(join(root, '/etc/init.d'))).filter((name) => !name.startsWith('.'))
}

/** Whether /etc/init.d has a script of this name that may be executed. */
export const isScript = (name: string, root = '/'): Promise<boolean> =>
  access(join(root, '/etc/init.d', name), constants.X_OK).then(
    () => true,
    () => false,
  )

/** Return the current runlevel, as a letter or digit; `fallback` where nobody knows it, as in a container. */
export async function currentRunlevel(fallback: string, context: Context): Promise<string> {
  if ((await which('runlevel')) === null) return fallback
  const { stdout } = await runProgram(['runlevel'], context, { ignoreRetcode: true })
  const level = stdout.split(/\s+/)[1]
  return level !== undefined && /^[0-9S]$/.test(level) ? level : fallback
}

/** Return the names of the services that have a start link in a runlevel, such as `S01ssh`. */
export async function startedAt(level: string, root = '/', rcFolder = '/etc'): Promise<string[]> {
  const names = await namesIn(join(root, rcFolder, `rc${level}.d`))
  return names.flatMap((link) => /^S\d{0,2}(.+)$/.exec(link)?.[1] ?? [])
}

/** Run an init script by the program `service`; true if it succeeded. */
export async function runService(
  name: string,
  action: string,
  context: Context,
  options: { readonly ignoreRetcode?: boolean } = {},
): Promise<boolean> {
  return (await runProgram(['service', scriptName(name), action], context, options)).retcode === 0
}
