import type { Stats } from 'node:fs'
import { chmod, chown, link, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { absolute, attempt, errorText, exists, expandHome, isFolder, lstatOf } from './paths.ts'
import { heldFile, type Place, refuseForeignName, withPlace } from './place.ts'
import { withFile } from './reading.ts'
import { removePath } from './remove.ts'
import { copyInto } from './text.ts'
import { copyTree, moveTree, refuseItself } from './tree.ts'

/** Copy a file, or with `recurse` a folder, with owner and mode. */
export async function copyPath(
  given: string,
  to: string,
  { recurse = false, remove_existing = false },
  signal: AbortSignal,
): Promise<true> {
  const src = await absolute(given, 'File path must be absolute.')
  const dst = await expandHome(to)
  if (!(await exists(src))) throw new CommandExecutionError(`No such file or directory '${src}'`)
  const folders = (await isFolder(dst)) || (await isFolder(src))
  if (folders && !recurse)
    throw new SaltInvocationError('Cannot copy overwriting a directory without recurse flag set to true!')
  try {
    await withPlace(src, (source) =>
      folders ? copyFolder(source, dst, remove_existing, signal) : copyFile(source, dst, signal),
    )
  } catch (error) {
    throw new CommandExecutionError(`Could not copy '${src}' to '${dst}': ${errorText(error)}`)
  }
  return true
}

const permissionsOf = ({ uid, gid, mode }: Stats) => ({ uid, gid, mode: mode & 0o7777 })

/** The copy has its owner and mode before anybody sees it. */
const copyFile = (source: Place, dst: string, signal: AbortSignal): Promise<void> =>
  withFile(
    heldFile(source).at,
    (file, stats) =>
      withPlace(dst, async (place) => {
        refuseForeignName(place)
        if (place.file?.stats.ino === stats.ino && place.file.stats.dev === stats.dev)
          throw new CommandExecutionError('they are the same file')
        await copyInto(place, file, { exact: permissionsOf(stats), signal })
      }),
    { path: source.path },
  )

async function copyFolder(
  source: Place,
  dst: string,
  isReplaced: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { at, stats } = heldFile(source)
  await withPlace(dst, async (place) => refuseItself(source, place))
  if (isReplaced && (await exists(dst))) await removePath(dst, signal)
  await withPlace(dst, ({ at: name, path, file }) =>
    copyTree(
      { at: `${at}/.`, path: source.path },
      { at: file ? `${file.at}/.` : name, path },
      signal,
      async (copy) => {
        const { uid, gid, mode } = permissionsOf(stats)
        await attempt(chown(copy, uid, gid), path)
        await attempt(chmod(copy, mode), path)
      },
    ),
  )
}

/** Move a file or folder, into the destination if that is a folder, also to another file system. */
export async function movePath(given: string, to: string, signal: AbortSignal) {
  const src = await absolute(given, 'Source path must be absolute.')
  const dst = await absolute(to, 'Destination path must be absolute.')
  const target = (await isFolder(dst)) ? join(dst, basename(src)) : dst
  try {
    await betweenPlaces(src, target, (from, place) => moveTree(from, place, signal))
  } catch (error) {
    const absent = (await lstatOf(src)) ? undefined : src
    throw new CommandExecutionError(`Unable to move '${src}' to '${dst}': ${errorText(error, absent)}`)
  }
  return { result: true, comment: `'${src}' moved to '${dst}'` }
}

/** Hold two names themselves, also those of links. */
const betweenPlaces = <T>(
  src: string,
  dst: string,
  work: (from: Place, to: Place) => Promise<T>,
): Promise<T> =>
  withPlace(src, (from) => withPlace(dst, (to) => work(from, to), { follow: false }), { follow: false })

/** Rename a file or folder. */
export async function renamePath(given: string, to: string): Promise<true> {
  const dst = await expandHome(to)
  const src = await absolute(given, 'File path must be absolute.')
  try {
    await betweenPlaces(src, dst, (from, place) => rename(from.at, place.at))
    return true
  } catch (error) {
    if (error instanceof CommandExecutionError && !error.message.startsWith('[Errno'))
      throw new CommandExecutionError(`Could not rename '${src}' to '${dst}': ${error.message}`)
    throw new CommandExecutionError(`Could not rename '${src}' to '${dst}'`)
  }
}

/** Make a hard link. */
export async function makeHardLink(src: string, to: string): Promise<true> {
  const file = await absolute(src, 'File path must be absolute.')
  const path = await expandHome(to)
  try {
    await betweenPlaces(file, path, (from, place) => link(from.at, place.at))
    return true
  } catch (error) {
    const { code, errno } = error as NodeJS.ErrnoException
    const known = errno === undefined ? error : { code, errno, path: file, dest: path }
    throw new CommandExecutionError(`Could not create '${path}': ${errorText(known)}`)
  }
}
