import { lstat, rmdir } from 'node:fs/promises'
import { CommandExecutionError, type Log, SaltInvocationError } from 'salt-ts'
import { absolute, errorText, isFolder, lstatOf } from './paths.ts'
import { withPlace } from './place.ts'
import { forEachEntry, removeTree, slices } from './tree.ts'

const DAY_MS = 86_400_000

/** Remove a file, a symlink, or a folder with all that is in it. False if there is nothing. */
export async function removePath(given: string, signal: AbortSignal): Promise<boolean> {
  const path = await absolute(given, `File path must be absolute: ${given}`)
  if (!(await lstatOf(path))) return false
  try {
    // A link to a folder is removed, not followed, also with a separator at its end.
    await withPlace(path.replace(/(.)\/+$/, '$1'), ({ at }) => removeTree(at, path, signal), {
      follow: false,
    })
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
  signal: AbortSignal,
) {
  const slice = slices(signal)
  const path = await absolute(given, 'File path must be absolute.')
  if (!(await isFolder(path))) throw new SaltInvocationError('A valid directory was not specified.')
  const limit = older_than ? Date.now() - older_than * DAY_MS : Infinity
  const deleted: string[] = []
  const errors: [string, string][] = []
  const removeOne = async (at: string, folder: string) => {
    if ((await lstat(at)).mtimeMs >= limit) return
    try {
      await rmdir(at)
      deleted.push(folder)
    } catch (error) {
      const reason = errorText(error, folder)
      errors.push([folder, reason])
      log.error(`Could not remove '${folder}': ${reason}`)
    }
  }
  const removeBelow = (at: string, folder: string): Promise<unknown> =>
    forEachEntry(at, folder, async (below) => {
      await slice()
      if (!below.isFolder) return
      await removeBelow(below.at, below.path)
      await removeOne(below.at, below.path)
    })
  await withPlace(path, async ({ at }) => {
    if (recurse) await removeBelow(at, path)
    await removeOne(at, path)
  })
  const result = errors.length === 0 && (recurse || deleted.length > 0)
  return verbose ? { deleted, errors, result } : result
}
