import { type BigIntStats, constants, fstatSync, readlinkSync } from 'node:fs'
import { type FileHandle, open, realpath, stat } from 'node:fs/promises'

/** An open file and its real path. */
export interface OpenedFile {
  readonly handle: FileHandle
  /** The path with all symbolic links resolved. */
  readonly path: string
  readonly stat: BigIntStats
}

interface OpenOptions {
  /** The kind of file to open; a regular file by default. */
  readonly kind?: 'file' | 'directory'
  /** Flags of open(2); `O_RDONLY` by default. Pipes and devices are refused, and opening one never blocks. */
  readonly flags?: number
  /** Permission bits of a file that is created. */
  readonly mode?: number
  /** Called with an error of the system; it may throw. By default an error gives `undefined`, too. */
  readonly onError?: (error: unknown) => undefined
}

/**
 * Open a regular file below one of these directories, whose paths must have no symbolic links. The place is checked
 * after the file is open, so links cannot lead elsewhere, even if they change meanwhile. Undefined for any other file.
 */
export async function openInside(
  path: string,
  directories: readonly string[],
  { kind = 'file', flags = constants.O_RDONLY, mode = 0o600, onError = () => undefined }: OpenOptions = {},
): Promise<OpenedFile | undefined> {
  const { O_NONBLOCK, O_NOCTTY, O_DIRECTORY } = constants
  const all = flags | O_NONBLOCK | O_NOCTTY | (kind === 'directory' ? O_DIRECTORY : 0)
  const handle = await open(path, all, mode).catch(onError)
  if (!handle) return undefined
  try {
    const found = fstatSync(handle.fd, { bigint: true }) // waits for no disk, unlike handing it to another thread
    const real = (kind === 'file' ? found.isFile() : found.isDirectory())
      ? await placeOf(handle, path, found)
      : undefined
    if (real !== undefined && directories.some((directory) => isBelow(real, directory)))
      return { handle, path: real, stat: found }
  } catch (error) {
    await handle.close()
    return onError(error)
  }
  await handle.close()
  return undefined
}

/** Whether a path is the directory or lies below it. `/srv/salt-secret` is not below `/srv/salt`. */
export function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)
}

/**
 * Return the real path of an open file, from /proc. Without /proc it is resolved from the name, which must still lead to
 * the same inode.
 */
async function placeOf(handle: FileHandle, path: string, opened: BigIntStats): Promise<string | undefined> {
  try {
    return readlinkSync(`/proc/self/fd/${handle.fd}`)
  } catch {} // there is no /proc
  const real = await realpath(path)
  const found = await stat(real, { bigint: true })
  return found.ino === opened.ino && found.dev === opened.dev ? real : undefined
}
