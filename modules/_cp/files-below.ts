import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * List the files below a folder, including links to files. Links to folders are not followed; unreadable folders are
 * skipped.
 */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const paths = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return filesBelow(path)
      const isFile = await stat(path).then(
        (found) => found.isFile(),
        () => false,
      )
      return isFile ? [path] : []
    }),
  )
  return paths.flat()
}
