/** The folders of Salt's job cache on disk: `<cachedir>/jobs/<hh>/<rest>/`, from the hash of the job id. */
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createFileExclusive } from '#internal'

export const MINIONS = '.minions'
const JID = 'jid'

export interface JobFolders {
  of(jid: string): string
  /** Create the folder of a job, with the file that has its id and dates its age. Resolves when both are on disk. */
  make(jid: string): Promise<string>
  /** Return the existing folders, unordered. */
  all(): Promise<string[]>
}

export function jobFolders(cachedir: string, hashType: string): JobFolders {
  const root = join(cachedir, 'jobs')
  const of = (jid: string) => {
    const hash = createHash(hashType).update(jid).digest('hex')
    return join(root, hash.slice(0, 2), hash.slice(2))
  }
  return {
    of,
    async make(jid) {
      const folder = of(jid)
      await makeFolder(folder)
      await createFileExclusive(join(folder, JID), jid)
      return folder
    },
    async all() {
      const tops = await namesIn(root)
      const found = await Promise.all(
        tops.map(async (top) => (await namesIn(join(root, top))).map((rest) => join(root, top, rest))),
      )
      return found.flat()
    },
  }
}

/** Create a folder and its parents, and sync them to disk. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Return the creation time of a job, from the file that Salt uses. A folder without it is as old as its last change. */
export async function ageOf(folder: string): Promise<Date | undefined> {
  const found = (await ifExists(stat(join(folder, JID)))) ?? (await ifExists(stat(folder)))
  return found?.ctime
}

/** Return the id of a folder's job; undefined if it is not recorded. */
export const jidIn = (folder: string): Promise<string | undefined> =>
  ifExists(readFile(join(folder, JID), 'utf8'))

export const namesIn = async (folder: string): Promise<string[]> => (await ifExists(readdir(folder))) ?? []

/** Resolve with undefined if the file is missing, or has been deleted meanwhile. */
export async function ifExists<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
