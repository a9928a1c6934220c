import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { currentUser } from './current-user.ts'
import { messageOf, SaltError } from './errors.ts'

/** Anybody may write, and replace what others wrote: with the sticky bit, as in /tmp, they may not. */
const ANYBODY_WRITES = 0o002
const STICKY = 0o1000

/**
 * Make a directory if there is none, with this mode; those above it become ordinary ones.
 * @throws SaltError PERMISSIONS if it cannot be made, or if anybody may write what is there
 */
export async function makeDirectory(path: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o755 })
    await mkdir(path, { mode })
  } catch (error) {
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory()) return refuseOpen(path, found.mode)
    throw new SaltError(
      'PERMISSIONS',
      `The directory ${path} cannot be made by user ${currentUser()}: ${messageOf(error)}. Make it for that user, or ` +
        'name another place in the configuration.',
      { path },
      { cause: error },
    )
  }
}

/** Whoever may write a directory can put files of their own in the place of those in it. */
function refuseOpen(path: string, mode: number): void {
  if ((mode & ANYBODY_WRITES) === 0 || (mode & STICKY) !== 0) return
  const shown = (mode & 0o777).toString(8).padStart(4, '0')
  throw new SaltError(
    'PERMISSIONS',
    `Anybody may write the directory ${path} (mode ${shown}), and could replace what is in it. Run: chmod o-w ${path}`,
    { path },
  )
}
