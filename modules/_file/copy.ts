import { chmod, chown, copyFile, cp, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { absolute, errorText, exists, expandHome, isFolder } from './paths.ts'

/** Copy a file, or with `recurse` a folder, with owner and mode. */
export async function copyPath(
  given: string,
  to: string,
  { recurse = false, remove_existing = false },
): Promise<true> {
  const src = await absolute(given, 'File path must be absolute.')
  const dst = await expandHome(to)
  if (!(await exists(src))) throw new CommandExecutionError(`No such file or directory '${src}'`)
  const { uid, gid, mode } = await stat(src)
  const folders = (await isFolder(dst)) || (await isFolder(src))
  if (folders && !recurse)
    throw new SaltInvocationError('Cannot copy overwriting a directory without recurse flag set to true!')
  try {
    if (folders && remove_existing) await rm(dst, { recursive: true, force: true })
    if (folders) await cp(src, dst, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
    else await copyFile(src, dst)
  } catch {
    throw new CommandExecutionError(`Could not copy '${src}' to '${dst}'`)
  }
  await chown(dst, uid, gid)
  await chmod(dst, mode & 0o7777)
  return true
}

/** Move a file or folder, into the destination if that is a folder, also to another file system. */
export async function movePath(given: string, to: string) {
  const src = await absolute(given, 'Source path must be absolute.')
  const dst = await absolute(to, 'Destination path must be absolute.')
  const place = (await isFolder(dst)) ? join(dst, basename(src)) : dst
  try {
    await renameOrCopy(src, place)
  } catch (error) {
    throw new CommandExecutionError(`Unable to move '${src}' to '${dst}': ${errorText(error)}`)
  }
  return { result: true, comment: `'${src}' moved to '${dst}'` }
}

async function renameOrCopy(src: string, dst: string): Promise<void> {
  try {
    await rename(src, dst)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await cp(src, dst, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
    await rm(src, { recursive: true })
  }
}
