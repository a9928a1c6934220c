import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * List everything below a directory, the contents of a directory before the directory itself. Unlike the `recursive`
 * option of some versions of Node, this does not follow symbolic links.
 */
export function entriesBelow(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [...entriesBelow(join(folder, entry.name)), entry] : [entry],
  )
}
