import { readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Log, SaltInvocationError } from 'salt-ts'
import { absolute, errorText, isFolder, lstatOf } from './paths.ts'

const DAY_MS = 86_400_000

/** Remove a file, a symlink, or a folder with all that is in it. False if there is nothing. */
export async function removePath(given: string): Promise<boolean> {
  const path = await absolute(given, `File path must be absolute: ${given}`)
  if (!(await lstatOf(path))) return false
  try {
    await rm(path, { recursive: true })
    return true
  } catch (error) {
    throw new CommandExecutionError(`Could not remove '${path}': ${errorText(error)}`)
  }
}

interface FolderOptions {
  readonly recurse: boolean
  readonly verbose: boolean
  readonly older_than?: number | undefined
}

/** Remove an empty folder, with `recurse` also the empty folders in it. */
export async function removeFolders(
  given: string,
  { recurse, verbose, older_than }: FolderOptions,
  log: Log,
) {
  const path = await absolute(given, 'File path must be absolute.')
  if (!(await isFolder(path))) throw new SaltInvocationError('A valid directory was not specified.')
  const limit = older_than ? Date.now() - older_than * DAY_MS : Infinity
  const deleted: string[] = []
  const errors: [string, string][] = []
  for (const folder of recurse ? [...(await foldersBelow(path)), path] : [path]) {
    if ((await stat(folder)).mtimeMs >= limit) continue
    try {
      await rmdir(folder)
      deleted.push(folder)
    } catch (error) {
      errors.push([folder, errorText(error)])
      log.error(`Could not remove '${folder}': ${errorText(error)}`)
    }
  }
  const result = errors.length === 0 && (recurse || deleted.length > 0)
  return verbose ? { deleted, errors, result } : result
}

/** List the folders in a folder, the deepest first. */
async function foldersBelow(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
  const below = await Promise.all(folders.map(async (folder) => [...(await foldersBelow(folder)), folder]))
  return below.flat()
}
