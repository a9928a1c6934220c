import { existsSync } from 'node:fs'
import { lstat, mkdir, readFile, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FileClient } from '../../author/files.ts'
import { fillFileAtomic } from '../../base/atomic-file.ts'
import { eachOf } from '../../base/each-of.ts'
import { entriesBelow } from '../../base/entries-below.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { isOurs } from './names.ts'
import type { WantedFile } from './wanted.ts'

/** Paths in a folder of extensions that were made, replaced and removed. */
export interface Placed {
  readonly before: ReadonlySet<string>
  readonly after: ReadonlySet<string>
  readonly touched: ReadonlySet<string>
  /** Those that are as they were, with the reason. */
  readonly failed: ReadonlyMap<string, string>
}

/**
 * Make a folder of extensions hold what is wanted. Each file is replaced as a whole, and what modules import comes
 * before them; what is gone goes last. With `clean` false nothing goes. A file that was listed and cannot be brought
 * stays as it was, and the others come all the same.
 */
export async function placeFiles(
  wanted: ReadonlyMap<string, WantedFile>,
  folder: string,
  { files, clean }: { readonly files: Pick<FileClient, 'cache'>; readonly clean: boolean },
): Promise<Placed> {
  const before = new Set(filesBelow(folder))
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
  await eachOf(
    all.filter((one) => !isModule(one)),
    place,
  )
  await eachOf(all.filter(isModule), place)
  if (clean)
    await eachOf(
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
    `the file server lists salt://${source}, but does not give it; see the log of the master`,
  )
}

/** False if it holds that already. */
async function replace(path: string, content: Buffer): Promise<boolean> {
  const facts = await lstat(path).catch(() => undefined)
  if (facts?.isFile() && (await readFile(path)).equals(content)) return false
  if (facts?.isDirectory()) await rm(path, { recursive: true })
  await makeFolder(dirname(path))
  // What is lost with the power is noticed and brought again by the next sync.
  await fillFileAtomic(path, (file) => file.writeFile(content), { mode: 0o600, durable: false })
  return true
}

/** A file may be where a folder is to be. */
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

/** And the folders above it that are empty then. By now there may be something else in its place. */
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

/** Paths of the files in a folder that are ours to keep or remove. */
function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return entriesBelow(folder)
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter(isOurs)
}
