import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { plainNames } from '../_pkg/names.ts'
import { runProgram } from '../_program/run.ts'
import { fileInfo } from './files.ts'
import { managerName, runManager } from './manager.ts'

/** Download packages into the cache of dnf or yum. Returns the path of each, and as `_error` which could not be. */
export async function download(names: readonly string[], context: Context): Promise<Record<string, string>> {
  if (names.length === 0) throw new SaltInvocationError('No packages were specified')
  plainNames(names)
  const folder = join('/var/cache', await managerName(), 'packages')
  await mkdir(folder, { recursive: true })
  for (const file of Object.values(await filesOf(names, folder, context))) await rm(file)
  await fetch(names, folder, context)
  const files = await filesOf(names, folder, context)
  const failed = names.filter((name) => !Object.hasOwn(files, name))
  if (failed.length === names.length)
    throw new CommandExecutionError(`Unable to download any of the following packages: ${names.join(', ')}`)
  if (failed.length === 0) return files
  return { ...files, _error: `The following package(s) failed to download: ${failed.join(', ')}` }
}

async function fetch(names: readonly string[], folder: string, context: Context): Promise<void> {
  if ((await which('yumdownloader')) !== null) {
    await runProgram(['yumdownloader', '-q', `--destdir=${folder}`, ...names], context)
  } else if ((await managerName()) === 'yum')
    throw new CommandExecutionError("'yumdownloader' command not available")
  else {
    const options = ['--quiet', '--setopt=strict=False', `--destdir=${folder}`]
    await runManager(['download', ...options, ...names], context)
  }
}

// The name of a file tells where the name of the package ends only together with the package itself.
async function filesOf(
  names: readonly string[],
  folder: string,
  context: Context,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const file of (await readdir(folder)).filter((one) => one.endsWith('.rpm')).sort()) {
    const likely = names.filter((name) => file.startsWith(`${name}-`))
    if (likely.length === 0) continue
    const info = await fileInfo(join(folder, file), context)
    const name = likely.find((one) => one === info?.name)
    if (name !== undefined) found[name] = join(folder, file)
  }
  return found
}
