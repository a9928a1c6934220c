import { mkdirSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { currentUser } from '../current-user.ts'
import { SaltError } from '../errors.ts'
import { fileProblem } from './file-problem.ts'

/**
 * Mode bit of directories that everybody may write, and replace the files of others in, unless the sticky bit is set
 * (as for /tmp).
 */
const ANYBODY_WRITES = 0o002
const STICKY = 0o1000

/**
 * Make a directory with this mode if there is none; missing parents are made with mode 0755.
 * @throws SaltError PERMISSIONS if it cannot be made, or if everybody may write the existing directory
 */
export async function makeDirectory(path: string, mode = 0o700): Promise<void> {
  try {
    makeFolders(dirname(path), 0o755)
    await mkdir(path, { mode })
  } catch (error) {
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory()) return refuseOpen(path, found.mode)
    throw cannotMakeDirectory(path, error)
  }
}

/**
 * Make a directory and those above it that are missing, with this mode. The `recursive` option of Node's `mkdir` never ends where a file
 * system makes no directories, such as /proc.
 * @throws the system's error
 */
export function makeFolders(path: string, mode: number): void {
  if (isDirectory(path)) return
  makeFolders(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (!isDirectory(path)) throw error // otherwise another process was faster
  }
}

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Return the error about a directory that could not be made, with the remedy. */
export const cannotMakeDirectory = (path: string, error: unknown): SaltError =>
  new SaltError(
    'PERMISSIONS',
    `The directory ${path} cannot be made by user ${currentUser()}: ${fileProblem(error)}. Make it for that user, or ` +
      'name another place in the configuration.',
    { path },
    { cause: error },
  )

/** Refuse a directory that everybody may write: any user could replace the files in it. */
function refuseOpen(path: string, mode: number): void {
  if ((mode & ANYBODY_WRITES) === 0 || (mode & STICKY) !== 0) return
  const shown = (mode & 0o777).toString(8).padStart(4, '0')
  throw new SaltError(
    'PERMISSIONS',
    `Every user may write the directory ${path} (mode ${shown}), and could replace the files in it. Run: chmod o-w ${path}`,
    { path },
  )
}
