import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Make a directory if there is none, with this mode; those above it become ordinary ones. */
export async function makeDirectory(path: string, mode = 0o700): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 })
  await mkdir(path, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
