import { CommandExecutionError, type Context } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { runProgram } from '../_program/run.ts'
import { scriptName } from '../_service/names.ts'
import { currentRunlevel, initFiles, isScript, startedAt } from '../_service/sysv.ts'
import { inScope } from './scope.ts'
import { unitFiles } from './unit-files.ts'

/** Return the init scripts that have no unit file; systemd runs them as services of the same name. */
export async function initScripts(root?: string, known?: ReadonlySet<string>): Promise<string[]> {
  const units = known ?? (await unitFiles(root))
  const scripts: string[] = []
  for (const name of await initFiles(root)) {
    if (!units.has(name) && (await isScript(name, root))) scripts.push(name)
  }
  return scripts
}

/** Return those init scripts that are started in the current runlevel, or those that are not. */
export async function initScriptsThatAre(
  enabled: boolean,
  root: string | undefined,
  context: Context,
): Promise<string[]> {
  const scripts = await initScripts(root)
  if (scripts.length === 0) return []
  const started = new Set(await startedAt(await currentRunlevel('2', context), root))
  return scripts.filter((name) => started.has(name) === enabled)
}

/** Let an init script be started at boot, or not, by the program of this host for it. */
export async function switchInitScript(
  name: string,
  on: boolean,
  root: string | undefined,
  context: Context,
): Promise<boolean> {
  const words = await inScope(await switchWords(scriptName(name), on, root), context)
  // This is where update-rc.d looks for another root.
  const env: Record<string, string> = root ? { DPKG_ROOT: root } : {}
  return (await runProgram(words, context, { ignoreRetcode: true, env })).retcode === 0
}

async function switchWords(
  name: string,
  on: boolean,
  root: string | undefined,
): Promise<[string, ...string[]]> {
  const updateRc = await which('update-rc.d')
  if (updateRc !== null) return [updateRc, '-f', name, ...(on ? ['defaults', '99'] : ['remove'])]
  const chkconfig = await which('chkconfig')
  if (chkconfig !== null) return [chkconfig, ...(root ? [`--root=${root}`] : []), name, on ? 'on' : 'off']
  throw new CommandExecutionError('Unable to find sysv service manager (tried update-rc.d, chkconfig)')
}
