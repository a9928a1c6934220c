import { existsSync } from 'node:fs'
import { lstat, mkdir, readFile, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FileClient } from '../../author/files.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { fillFileAtomic } from '../../base/files/atomic-file.ts'
import { entriesBelow } from '../../base/files/entries-below.ts'
import { mapConcurrently } from '../../base/map-concurrently.ts'
import { isSynced } from './names.ts'
import type { WantedFile } from './wanted.ts'

/** Paths in a directory of extensions before and after a sync. */
export interface Placed {
  readonly before: ReadonlySet<string>
  readonly after: ReadonlySet<string>
  /** Paths that were created, replaced or removed. */
  readonly touched: ReadonlySet<string>
  /** Reasons for the paths that could not be changed. */
  readonly failed: ReadonlyMap<string, string>
}

/**
 * Copy the wanted files into a directory of extensions. Each file is replaced atomically. Files that modules import are copied before
 * the modules, and files that are no longer wanted are removed last, unless `clean` is false. A file that cannot be fetched stays
 * unchanged; the others are still copied.
 */
export async function placeFiles(
  wanted: ReadonlyMap<string, WantedFile>,
  folder: string,
  { files, clean }: { readonly files: Pick<FileClient, 'cache'>; readonly clean: boolean },
): Promise<Placed> {
  const before = new Set(syncedFilesBelow(folder))
  const after = new Set(before)
  const touched = new Set<string>()
  const failed = new Map<string, string>()
  const tried = (path: string, work: () => Promise<void>) =>
    work().catch((error: unknown) => void failed.set(path, messageOf(error)))
  const place = (one: WantedFile) =>
    tried(one.path, async () => {
      if (await replace(join(folder, one.path), await contentOf(one, files))) touched.add(one.path)
      after.add(one.path)
    })
  const remove = (path: string) =>
    tried(path, async () => {
      await removeFile(join(folder, path), folder)
      after.delete(path)
      touched.add(path)
    })
  const isModule = ({ path }: WantedFile) => !path.includes('/') && !path.startsWith('_')
  const all = [...wanted.values()]
  await mapConcurrently(
    all.filter((one) => !isModule(one)),
    place,
  )
  await mapConcurrently(all.filter(isModule), place)
  if (clean)
    await mapConcurrently(
      [...before].filter((path) => !wanted.has(path)),
      remove,
      1,
    )
  return { before, after, touched, failed }
}

async function contentOf({ source, saltenv }: WantedFile, files: Pick<FileClient, 'cache'>): Promise<Buffer> {
  const cached = await files.cache(source, saltenv)
  if (cached !== undefined) return readFile(cached)
  throw new SaltError(
    'COMMAND_EXECUTION',
    `the file server lists salt://${source}, but does not serve it; see the log of the master`,
  )
}

/** Write the content of a file. Resolves with false if it is unchanged. */
async function replace(path: string, content: Buffer): Promise<boolean> {
  const facts = await lstat(path).catch(() => undefined)
  if (facts?.isFile() && (await readFile(path)).equals(content)) return false
  if (facts?.isDirectory()) await rm(path, { recursive: true })
  await makeFolder(dirname(path))
  // Not synced to disk: the next sync repairs what a power failure damages.
  await fillFileAtomic(path, (file) => file.writeFile(content), { mode: 0o600, durable: false })
  return true
}

/** Make a directory. A file at its path is removed. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    const facts = await lstat(path).catch(() => undefined)
    if (!facts || facts.isDirectory()) throw error
    await rm(path)
    await mkdir(path, { recursive: true, mode: 0o700 })
  }
}

/** Remove a file, and the directories above it that become empty. A directory at its path is kept. */
async function removeFile(path: string, above: string): Promise<void> {
  const facts = await lstat(path).catch(() => undefined)
  if (!facts || facts.isDirectory()) return
  await rm(path)
  for (let folder = dirname(path); folder !== above; folder = dirname(folder)) {
    const isRemoved = await rmdir(folder).then(
      () => true,
      () => false,
    )
    if (!isRemoved) return
  }
}

/** Return the paths of the files in a directory that the sync manages; none if it does not exist. */
export function syncedFilesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return entriesBelow(folder)
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter(isSynced)
}
