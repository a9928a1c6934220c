import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * List all that is below a folder; what a folder holds comes before the folder itself. Links are not followed, which Node's own
 * `recursive` does in some versions.
 */
export function entriesBelow(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [...entriesBelow(join(folder, entry.name)), entry] : [entry],
  )
}
