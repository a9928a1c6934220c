/** Files of SSH in the homes of users. */
import { chmod, chown, lstat, mkdir, readFile, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { CommandExecutionError } from 'salt-ts'
import { fillFileAtomic } from '#internal'
import { findUser, type User } from '../_cmd/users.ts'

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

/** Read a file; undefined if there is none. */
export async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw new CommandExecutionError(`Problem reading ssh key file ${path}`)
  })
}

/**
 * Replace a file atomically. Keeps its owner and mode; a new file, and a new folder around it, belong to the user alone. A
 * link that leads to files of others is refused, since the user may have placed it.
 */
export async function writeOwned(path: string, text: string, user: User | undefined): Promise<void> {
  const owner = user && process.getuid?.() === 0 ? { uid: user.uid, gid: user.gid } : undefined
  try {
    await makeFolder(dirname(path), owner)
    if (user) await refuseForeignLink(path, user)
    const found = await stat(path).catch(() => undefined)
    const kept = found ? { uid: found.uid, gid: found.gid } : owner
    await fillFileAtomic(path, (file) => file.writeFile(text), {
      mode: found ? found.mode & 0o7777 : 0o600,
      ...(kept && { owner: kept }),
    })
  } catch (cause) {
    if (cause instanceof CommandExecutionError) throw cause
    throw new CommandExecutionError(`Could not write to key file: ${(cause as Error).message}`)
  }
}

async function makeFolder(folder: string, owner: { uid: number; gid: number } | undefined): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  await chmod(folder, 0o700)
  if (owner) await chown(folder, owner.uid, owner.gid)
}

async function refuseForeignLink(path: string, user: User): Promise<void> {
  for (const place of [dirname(path), path]) {
    const isLink = (await lstat(place).catch(() => undefined))?.isSymbolicLink()
    if (!isLink) continue
    const target = await stat(place).catch(() => undefined)
    if (target?.uid !== user.uid)
      throw new CommandExecutionError(
        `${place} is a link to what does not belong to '${user.name}'; replace it by a file or folder of that user.`,
      )
  }
}
