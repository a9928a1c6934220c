/** Files of SSH in the homes of users. */
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readFile, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { CommandExecutionError } from 'salt-ts'
import { fillFileAtomic } from '#internal'
import { findUser, type User } from '../_cmd/users.ts'
import { readOpen } from '../_file/regular.ts'

const { O_RDONLY, O_DIRECTORY, O_NONBLOCK } = constants

/** Find a user. @throws CommandExecutionError */
export async function requireUser(name: string): Promise<User> {
  const user = await findUser(name)
  if (user) return user
  throw new CommandExecutionError(`User '${name}' does not exist`)
}

/** The local users, in the order of /etc/passwd. */
export async function localUsers(): Promise<string[]> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').filter(Boolean)
  return lines.map((line) => line.slice(0, line.indexOf(':')))
}

/** Expand `%u`, `%h` and `%%` in a path of a file of keys; a relative one is below the home of the user. */
export function keysPath(config: string, user: User): string {
  const path = config.replaceAll(/%(.?)/g, (_, token: string) => {
    if (token === '%') return '%'
    if (token === 'u') return user.name
    if (token === 'h') return user.home
    throw new CommandExecutionError(
      token === ''
        ? "AuthorizedKeysFile path: Last character can't be escape character"
        : `AuthorizedKeysFile path: unknown token character "%${token}"`,
    )
  })
  return isAbsolute(path) ? path : join(user.home, path)
}

/**
 * Read a file of a user; undefined if there is none.
 * @throws CommandExecutionError for what is no file, and for a file of others that the user may have placed there
 */
export async function readText(path: string, user: User | undefined): Promise<string | undefined> {
  try {
    const file = await open(path, O_RDONLY | O_NONBLOCK)
    return await using(file, async () => {
      if (user?.uid !== 0) await requireTheirs(file, path, user)
      return String(await readOpen(file, path))
    })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (cause instanceof CommandExecutionError) throw cause
    throw new CommandExecutionError(`Problem reading ssh key file ${path}`)
  }
}

/**
 * Replace a file atomically. Keeps its owner and mode; a new file, and a new folder around it, belong to the user alone. A
 * folder that a link of the user leads to is refused if it belongs to others. The file is written by the open folder, so
 * that no link can take its place meanwhile.
 */
export async function writeOwned(path: string, text: string, user: User | undefined): Promise<void> {
  const owner = user && process.getuid?.() === 0 ? { uid: user.uid, gid: user.gid } : undefined
  try {
    const folder = await openFolder(dirname(path), user, owner)
    await using(folder, async () => {
      const place = join(`/proc/self/fd/${folder.fd}`, basename(path))
      const found = await lstat(place).catch(() => undefined)
      const old = found?.isFile() ? found : undefined
      const isKept = old && (!owner || old.uid === owner.uid || old.uid === 0)
      const kept = isKept ? { uid: old.uid, gid: old.gid } : owner
      await fillFileAtomic(place, (file) => file.writeFile(text), {
        mode: old ? old.mode & 0o777 : 0o600,
        ...(kept && { owner: kept }),
      })
    })
  } catch (cause) {
    if (cause instanceof CommandExecutionError) throw cause
    throw new CommandExecutionError(`Could not write to key file: ${(cause as Error).message}`)
  }
}

type Owner = { readonly uid: number; readonly gid: number }

async function openFolder(path: string, user: User | undefined, owner: Owner | undefined) {
  const isNew = (await mkdir(path, { recursive: true, mode: 0o700 })) !== undefined
  const folder = await open(path, O_RDONLY | O_DIRECTORY)
  try {
    await requireTheirs(folder, path, user)
    if (isNew) await folder.chmod(0o700)
    if (isNew && owner) await folder.chown(owner.uid, owner.gid)
    return folder
  } catch (cause) {
    await folder.close()
    throw cause
  }
}

/**
 * Require that an open file or folder belongs to the user, or is at its path without a link that the user may have placed.
 */
async function requireTheirs(file: FileHandle, path: string, user: User | undefined): Promise<void> {
  if (!user) return
  const found = await file.stat()
  if (found.uid === user.uid) return
  const isLink = (await readlink(`/proc/self/fd/${file.fd}`)) !== (await placeOf(path, user.home))
  const isHardLink = found.isFile() && found.nlink > 1
  if (found.uid === 0 && !isLink && !isHardLink) return
  throw new CommandExecutionError(
    `${path} is ${isLink || isHardLink ? 'a link to ' : ''}what does not belong to '${user.name}'; replace it by a file or folder of that user.`,
  )
}

const OTHERS_MAY_WRITE = 0o022

/** Return the real path of what has only links that root has placed. */
async function placeOf(path: string, home: string): Promise<string> {
  const below = relative(home, path)
  if (home !== '/' && below !== '' && !below.startsWith('..')) return join(await realpath(home), below)
  const { uid, mode } = await stat(dirname(path))
  return uid === 0 && (mode & OTHERS_MAY_WRITE) === 0 ? realpath(path) : path
}

async function using<T>(file: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    await file.close()
  }
}
