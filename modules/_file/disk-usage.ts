import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isFile, lstatOf, statOf } from './paths.ts'
import { entriesOf } from './tree.ts'

/** Add up the sizes of the files in a folder, or return that of a file. A file with several names counts once. */
export async function diskUsage(path: string, signal: AbortSignal): Promise<number> {
  if (await isFile(path)) return (await stat(path)).size
  const seen = new Map<string, number>()
  const walk = (at: string, folder: string): Promise<void> =>
    entriesOf(at, folder, async (inside, names) => {
      for (const name of names) {
        signal.throwIfAborted()
        const entry = `${inside}/${name}`
        if ((await lstatOf(entry))?.isDirectory()) await walk(entry, join(folder, name))
        else {
          const found = await statOf(entry)
          if (found && !found.isDirectory()) seen.set(`${found.dev}:${found.ino}`, found.size)
        }
      }
    })
  await walk(path, path)
  return [...seen.values()].reduce((sum, size) => sum + size, 0)
}
