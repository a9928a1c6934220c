import { lstatSync, type Stats, statSync } from 'node:fs'
import { lstat, readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { fnmatch } from '#internal'
import { findUser } from '../_cmd/users.ts'

/** Refuse a path that no file can have. */
export function checkPath(path: string): void {
  if (path.includes('\0'))
    throw new SaltInvocationError(`A path cannot have a zero byte: ${JSON.stringify(path)}`)
}

/** Replace a leading `~` or `~user` by the home folder; a path of an unknown user stays as it is. */
export async function expandHome(path: string): Promise<string> {
  checkPath(path)
  const [, name, rest = ''] = /^~([^/]*)(.*)$/s.exec(path) ?? []
  if (name === undefined) return path
  const home = name === '' ? (process.env.HOME ?? homedir()) : (await findUser(name))?.home
  return home === undefined ? path : home.replace(/\/+$/, '') + rest
}

/** Expand the home folder of a path, and refuse it with `message` if it is not absolute. */
export async function absolute(path: string, message: string): Promise<string> {
  const expanded = await expandHome(path)
  if (!expanded.startsWith('/')) throw new SaltInvocationError(message)
  return expanded
}

export const statOf = (path: string) => stat(path).catch(() => undefined)
export const lstatOf = (path: string) => lstat(path).catch(() => undefined)

/** As `statOf` and `lstatOf`, synchronously, for walks through many files. */
export const statIfAny = (path: string): Stats | undefined => ifAny(() => statSync(path))
export const lstatIfAny = (path: string): Stats | undefined => ifAny(() => lstatSync(path))

function ifAny<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

export const exists = async (path: string): Promise<boolean> => (await statOf(path)) !== undefined
export const isFile = async (path: string): Promise<boolean> => (await statOf(path))?.isFile() ?? false
export const isFolder = async (path: string): Promise<boolean> => (await statOf(path))?.isDirectory() ?? false
export const isSymlink = async (path: string): Promise<boolean> =>
  (await lstatOf(path))?.isSymbolicLink() ?? false

const ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory',
  EACCES: 'Permission denied',
  EPERM: 'Operation not permitted',
  EEXIST: 'File exists',
  EISDIR: 'Is a directory',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  EXDEV: 'Invalid cross-device link',
  EROFS: 'Read-only file system',
  ENOSPC: 'No space left on device',
  EINVAL: 'Invalid argument',
  ELOOP: 'Too many levels of symbolic links',
}

/** Return the system's words for an error, such as `No such file or directory`. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return ERRORS[code ?? ''] ?? message
}

/** Return the error as Python writes it: `[Errno 2] No such file or directory: '/a'`. */
export function errorText(error: unknown, name?: string): string {
  const { errno, path = name, dest } = error as NodeJS.ErrnoException & { dest?: string }
  if (errno === undefined) return (error as Error).message
  const to = dest === undefined || name !== undefined ? '' : ` -> '${dest}'`
  const files = path === undefined ? '' : `: '${name ?? path}'${to}`
  return `[Errno ${-errno}] ${reasonOf(error)}${files}`
}

/** Turn an error of the system into one that names the path as it was given. */
export function systemError(error: unknown, path: string): Error {
  const { errno, code } = error as NodeJS.ErrnoException
  if (errno === undefined) return error as Error
  const foreseen = new CommandExecutionError(`[Errno ${-errno}] ${reasonOf(error)}: '${path}'`)
  codes.set(foreseen, code)
  return foreseen
}

const codes = new WeakMap<object, string | undefined>()

/** Return the system's name of the error that `systemError` was made from, such as ENOSPC. */
export const systemCode = (error: object): string | undefined => codes.get(error)

/** Await an operation of the file system, and fail with the system's words. `name` is the path for the message, if it is another one. */
export async function attempt<T>(work: Promise<T>, name?: string): Promise<T> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).errno === undefined) throw error
    throw new CommandExecutionError(errorText(error, name))
  }
}

/** List the paths that a shell pattern matches, as Python's `glob.glob`: hidden names only if the pattern has the dot. */
export async function glob(pattern: string): Promise<string[]> {
  if (!/[*?[]/.test(pattern)) return (await lstatOf(pattern)) ? [pattern] : []
  let found = [pattern.startsWith('/') ? '/' : '']
  for (const part of pattern.split('/').filter((each) => each !== '')) {
    const next = await Promise.all(found.map((folder) => matchesIn(folder, part)))
    found = next.flat()
  }
  return found
}

async function matchesIn(folder: string, part: string): Promise<string[]> {
  const place = (name: string) => (folder === '' ? name : join(folder, name))
  if (!/[*?[]/.test(part)) return (await lstatOf(place(part))) ? [place(part)] : []
  const names = await readdir(folder || '.').catch(() => [])
  return names
    .filter((name) => (part.startsWith('.') || !name.startsWith('.')) && fnmatch(name, part))
    .map(place)
}
