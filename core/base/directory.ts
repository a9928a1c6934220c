import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { currentUser } from './current-user.ts'
import { messageOf, SaltError } from './errors.ts'

/**
 * Make a directory if there is none, with this mode; those above it become ordinary ones.
 * @throws SaltError PERMISSIONS if it cannot be made
 */
export async function makeDirectory(path: string, mode = 0o700): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o755 })
    await mkdir(path, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    throw new SaltError(
      'PERMISSIONS',
      `The directory ${path} cannot be made by user ${currentUser()}: ${messageOf(error)}. Make it for that user, or ` +
        'name another place in the configuration.',
      { path },
      { cause: error },
    )
  }
}
