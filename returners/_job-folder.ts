/** The folders of Salt's own job cache on disk: `<cachedir>/jobs/<hh>/<rest>/`, from the hash of the job id. */
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createFileExclusive } from 'salt-ts'

export const MINIONS = '.minions'
const JID = 'jid'

export interface JobFolders {
  of(jid: string): string
  /** Make the folder of a job, with the file that names it and from which its age is counted. On disk when it resolves. */
  make(jid: string): Promise<string>
  /** Those that are there, in no order. */
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

/** Make a folder and what is above it, all on disk. */
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

/** When the job came; Salt goes by the same file. A folder without it is as old as its last change. */
export async function ageOf(folder: string): Promise<Date | undefined> {
  const found = (await ifThere(stat(join(folder, JID)))) ?? (await ifThere(stat(folder)))
  return found?.ctime
}

/** The id of the job whose folder this is; undefined if nothing tells. */
export const jidIn = (folder: string): Promise<string | undefined> =>
  ifThere(readFile(join(folder, JID), 'utf8'))

export const namesIn = async (folder: string): Promise<string[]> => (await ifThere(readdir(folder))) ?? []

/** Undefined for what is not there, or is no longer. */
export async function ifThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
