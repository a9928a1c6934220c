import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'

/** What was opened, and where it really lies. */
export interface OpenedFile {
  readonly handle: FileHandle
  /** Without links. */
  readonly path: string
  readonly stat: BigIntStats
}

interface OpenOptions {
  /** What to open; a regular file if not said. */
  readonly kind?: 'file' | 'directory'
  /** Further flags of open(2); reading if not said. A pipe or a device never blocks, and is not opened. */
  readonly flags?: number
  /** Permission bits of a file that is made. */
  readonly mode?: number
  /** Is given an error of the system, and may throw; otherwise that is `undefined`, too. */
  readonly onError?: (error: unknown) => undefined
}

/**
 * Open a regular file that lies below one of these directories, whose paths must be real ones. That is looked at when
 * it is open, so neither links nor whoever changes them meanwhile leads elsewhere. Undefined for everything else.
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
    const found = await handle.stat({ bigint: true })
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

/** `/srv/salt-secret` is not below `/srv/salt`. */
export function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)
}

/** The kernel tells where an open file lies; where it does not, its name must still lead to the same file. */
async function placeOf(handle: FileHandle, path: string, opened: BigIntStats): Promise<string | undefined> {
  const told = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined)
  if (told !== undefined) return told
  const real = await realpath(path)
  const found = await stat(real, { bigint: true })
  return found.ino === opened.ino && found.dev === opened.dev ? real : undefined
}
