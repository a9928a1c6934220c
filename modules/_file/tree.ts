/** Trees of folders, gone through by open folders, so that a renamed folder or a planted link leads nowhere else. */
import { constants, type Stats } from 'node:fs'
import {
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises'
import { join } from 'node:path'
import { SaltInvocationError } from 'salt-ts'
import { lstatOf, systemError } from './paths.ts'
import { hasDescriptors, isTrusted, type Place } from './place.ts'
import { noFile, withFile } from './reading.ts'
import { copyInto } from './text.ts'

/** Open a folder, but no link to one, and give `work` a name of it that stays valid. */
async function withFolder<T>(at: string, path: string, work: (at: string) => Promise<T>): Promise<T> {
  const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants
  const handle = await open(at, O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK).catch((error) => {
    throw Object.assign(systemError(error, path), { code: error.code })
  })
  try {
    return await work(hasDescriptors ? `/proc/self/fd/${handle.fd}` : path)
  } finally {
    await handle.close()
  }
}

/** Remove a file or link, or a folder with all that is in it. @throws CommandExecutionError, also if nothing is there */
export async function removeTree(at: string, path: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  try {
    if (!(await lstat(at)).isDirectory()) return await unlink(at)
    await withFolder(at, path, async (folder) => {
      for (const name of await readdir(folder))
        await removeTree(`${folder}/${name}`, join(path, name), signal)
    })
    await rmdir(at)
  } catch (error) {
    throw systemError(error, path)
  }
}

/** The entries of a folder that can be gone through; none if it is no folder any more, or may not be read. */
export async function entriesOf<T>(
  at: string,
  path: string,
  work: (at: string, names: readonly string[]) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await withFolder(at, path, async (folder) => work(folder, await readdir(folder)))
  } catch (error) {
    if (['EACCES', 'ELOOP', 'ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined
    throw error
  }
}

/** A name in an open folder, and the path for messages. */
interface Name {
  readonly at: string
  readonly path: string
}

/**
 * Copy a file, link or folder with modes and times. What a folder has already stays, unless it has the same name. Links are
 * copied as links, and pipes and devices refused.
 */
export async function copyTree(from: Name, to: Name, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  try {
    const found = await lstat(from.at)
    if (found.isDirectory()) await copyFolder(from, to, found, signal)
    else if (found.isSymbolicLink()) await copyLink(from, to)
    else if (found.isFile()) await copyFile(from, to, signal)
    else throw noFile(found, from.path)
  } catch (error) {
    throw systemError(error, from.path)
  }
}

/** Mode of a copy: set-uid and set-gid bits that a stranger gave a file of his are not copied to one of this user. */
const modeOfCopy = ({ mode, uid }: Stats): number => mode & (isTrusted(uid) ? 0o7777 : 0o1777)

function copyFile({ at, path }: Name, to: Name, signal: AbortSignal): Promise<void> {
  const copy = async (source: Parameters<typeof copyInto>[1], stats: Stats) => {
    const exact = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1, mode: modeOfCopy(stats) }
    await copyInto({ ...to, folder: stats }, source, { times: stats, exact, signal, durable: false })
  }
  return withFile(at, copy, { path, follow: false })
}

async function copyLink({ at }: Name, to: Name): Promise<void> {
  const target = await readlink(at)
  if (await lstatOf(to.at)) await unlink(to.at)
  await symlink(target, to.at)
}

async function copyFolder(from: Name, to: Name, { mode }: Stats, signal: AbortSignal): Promise<void> {
  const isNew = !(await lstatOf(to.at))
  if (isNew) await mkdir(to.at, 0o700)
  await withFolder(from.at, from.path, (source) =>
    withFolder(to.at, to.path, async (copy) => {
      for (const name of await readdir(source)) {
        const inside = (folder: string, path: string) => ({ at: `${folder}/${name}`, path: join(path, name) })
        await copyTree(inside(source, from.path), inside(copy, to.path), signal)
      }
      if (isNew) await chmod(copy, mode & 0o7777)
    }),
  )
}

/** Refuse to copy or move a folder into itself. */
export function refuseItself(from: Place, to: Place): void {
  if (from.path === to.path || to.path.startsWith(`${from.path}/`))
    throw new SaltInvocationError(`${to.path} is ${from.path} itself, or in it`)
}

/** Move a file, link or folder, also to another file system. */
export async function moveTree(from: Place, to: Place, signal: AbortSignal): Promise<void> {
  try {
    await rename(from.at, to.at)
  } catch (error) {
    const { code, errno } = error as NodeJS.ErrnoException
    if (code !== 'EXDEV')
      throw Object.assign(new Error(code), { code, errno, path: from.path, dest: to.path })
    refuseItself(from, to)
    await copyTree(from, to, signal)
    await removeTree(from.at, from.path, signal)
  }
}
