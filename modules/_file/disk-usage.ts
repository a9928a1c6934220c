import { realpath, stat } from 'node:fs/promises'
import { isFile, statIfAny } from './paths.ts'
import { forEachEntry, slices } from './tree.ts'

/** Add up the sizes of the files in a folder, or return that of a file. A file with several names counts once. */
export async function diskUsage(path: string, signal: AbortSignal): Promise<number> {
  if (await isFile(path)) return (await stat(path)).size
  const seen = new Map<string, number>()
  const slice = slices(signal)
  const walk = (at: string, folder: string): Promise<void> =>
    forEachEntry(at, folder, async (entry) => {
      await slice()
      if (entry.isFolder) return walk(entry.at, entry.path)
      const found = statIfAny(entry.at)
      if (found && !found.isDirectory()) seen.set(`${found.dev}:${found.ino}`, found.size)
    })
  await walk(await realpath(path).catch(() => path), path)
  return [...seen.values()].reduce((sum, size) => sum + size, 0)
}
