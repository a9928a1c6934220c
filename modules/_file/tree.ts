/**
 * Trees of folders, gone through by open folders, so that a renamed folder or a planted link leads nowhere else. Folders are read
 * by synchronous calls, which take a tenth of the time of the others.
 */
import {
  closeSync,
  constants,
  futimesSync,
  lstatSync,
  openSync,
  readdirSync,
  rmdirSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { chmod, mkdir, readlink, rename, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { fillFileAtomicSync } from '#internal'
import { lstatOf, systemCode, systemError } from './paths.ts'
import { hasDescriptors, isTrusted, type Place } from './place.ts'
import { noFile, readSmallFile, withFile } from './reading.ts'
import { copyInto } from './text.ts'

/** Time after which a walk lets other work of the process go on, among it what ends the job. */
const SLICE_MS = 10

/** Return a function to call for each entry of a walk: what it returns, if anything, is to be awaited. It throws if the job is ended. */
export function slices(signal: AbortSignal): () => Promise<void> | undefined {
  let began = performance.now()
  const pause = async () => {
    await setImmediate()
    signal.throwIfAborted()
    began = performance.now()
  }
  return () => (performance.now() - began < SLICE_MS ? undefined : pause())
}

/** Open a folder, but no link to one, and give `work` a name of it that stays valid. */
async function withFolder<T>(
  at: string | Buffer,
  path: string,
  work: (at: string) => Promise<T>,
): Promise<T> {
  const folder = openFolder(at, path)
  try {
    return await work(hasDescriptors ? `/proc/self/fd/${folder}` : path)
  } finally {
    closeSync(folder)
  }
}

function openFolder(at: string | Buffer, path: string): number {
  const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    return openSync(at, O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    throw systemError(error, path)
  }
}

/** Remove a file or link, or a folder with all that is in it. @throws CommandExecutionError, also if nothing is there */
export async function removeTree(at: string, path: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await removeSliced(at, path, slices(signal))
}

async function removeSliced(
  at: string | Buffer,
  path: string,
  slice: ReturnType<typeof slices>,
): Promise<void> {
  try {
    if (!lstatSync(at).isDirectory()) return unlinkSync(at)
    await withFolder(at, path, async (folder) => {
      // Bytes, since a name need not be UTF-8.
      for (const name of readdirSync(folder, { encoding: 'buffer' })) {
        await slice()
        const entry = Buffer.concat([Buffer.from(`${folder}/`), name])
        await removeSliced(entry, join(path, name.toString()), slice)
      }
    })
    rmdirSync(at)
  } catch (error) {
    throw systemError(error, path)
  }
}

/** An entry of a folder. Its name is valid as long as the folder is open. */
export interface Entry {
  readonly at: string
  readonly path: string
  readonly isFolder: boolean
}

/** Do something with each entry of a folder, one after the other; with none if it cannot be opened or listed. */
export async function forEachEntry(
  at: string,
  path: string,
  work: (entry: Entry) => Promise<unknown>,
): Promise<void> {
  let isListed = false
  try {
    await withFolder(at, path, async (folder) => {
      const entries = readdirSync(folder, { withFileTypes: true })
      isListed = true
      for (const entry of entries) {
        const { name } = entry
        await work({ at: `${folder}/${name}`, path: join(path, name), isFolder: entry.isDirectory() })
      }
    })
  } catch (error) {
    const code = systemCode(systemError(error, path))
    if (isListed || code === undefined || SCARCE.includes(code)) throw error
  }
}

/** Errors of the process, not of a folder. */
const SCARCE = ['EMFILE', 'ENFILE', 'ENOMEM']

/** A name in an open folder, and the path for messages. */
interface Name {
  readonly at: string
  readonly path: string
}

/**
 * Copy a file, link or folder with modes and times. What a folder has already stays, unless it has the same name. Links are
 * copied as links, and pipes and devices refused.
 */
export function copyTree(from: Name, to: Name, signal: AbortSignal, finish?: Finish): Promise<void> {
  signal.throwIfAborted()
  return copySliced(from, to, { signal, slice: slices(signal) }, finish)
}

/** Called with the copied folder while it is held open. */
type Finish = (copy: string) => Promise<void>

interface Walk {
  readonly signal: AbortSignal
  readonly slice: ReturnType<typeof slices>
}

async function copySliced(from: Name, to: Name, walk: Walk, finish?: Finish): Promise<void> {
  try {
    await walk.slice()
    const found = lstatSync(from.at)
    if (found.isDirectory()) await copyFolder(from, to, found, walk, finish)
    else if (found.isSymbolicLink()) await copyLink(from, to)
    else if (!found.isFile()) throw noFile(found, from.path)
    else if (!copySmallFile(from, to)) await copyFile(from, to, walk.signal)
  } catch (error) {
    throw systemError(error, from.path)
  }
}

/**
 * Owner and mode of a copy. Set-uid and set-gid bits that a stranger gave a file of his are not copied to one of this user, nor is
 * the set-gid bit of another group.
 */
function permissionsOfCopy({ mode, uid, gid }: Stats) {
  const owner = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 }
  const setUid = isTrusted(uid) ? 0o4000 : 0
  const setGid = isTrusted(uid) && gid === owner.gid ? 0o2000 : 0
  return { owner, mode: mode & (0o1777 | setUid | setGid) }
}

/** Copy a file that has less than 64 KiB. Returns false, without a copy, if it has more. */
function copySmallFile({ at, path }: Name, to: Name): boolean {
  const source = readSmallFile(at, { path, follow: false })
  if (!source) return false
  const { content, stats } = source
  const fill = (file: number) => {
    writeFileSync(file, content)
    futimesSync(file, stats.atime, stats.mtime)
  }
  try {
    fillFileAtomicSync(to.at, fill, permissionsOfCopy(stats))
  } catch (error) {
    throw systemError(error, to.path)
  }
  return true
}

function copyFile({ at, path }: Name, to: Name, signal: AbortSignal): Promise<void> {
  const copy = async (source: Parameters<typeof copyInto>[1], stats: Stats) => {
    const { owner, mode } = permissionsOfCopy(stats)
    const exact = { ...owner, mode }
    await copyInto({ ...to, folder: stats }, source, { times: stats, exact, signal, durable: false })
  }
  return withFile(at, copy, { path, follow: false })
}

async function copyLink({ at }: Name, to: Name): Promise<void> {
  const target = await readlink(at)
  if (await lstatOf(to.at)) await unlink(to.at)
  await symlink(target, to.at)
}

async function copyFolder(from: Name, to: Name, stats: Stats, walk: Walk, finish?: Finish): Promise<void> {
  const isNew = !(await lstatOf(to.at))
  if (isNew) await mkdir(to.at, 0o700)
  await withFolder(from.at, from.path, (source) =>
    withFolder(to.at, to.path, async (copy) => {
      if (isNew && !isFresh(copy))
        throw new CommandExecutionError(
          `Another folder was put into the place of ${to.path} while it was copied`,
        )
      for (const name of readdirSync(source)) {
        const inside = (folder: string, path: string) => ({ at: `${folder}/${name}`, path: join(path, name) })
        await copySliced(inside(source, from.path), inside(copy, to.path), walk)
      }
      if (finish) await finish(copy)
      else if (isNew) await chmod(copy, permissionsOfCopy(stats).mode)
    }),
  )
}

/** Whether a folder may be one that was made just now: an empty one of this user. */
function isFresh(folder: string): boolean {
  const { uid, mode } = statSync(folder)
  return uid === process.getuid?.() && (mode & 0o777) === 0o700 && readdirSync(folder).length === 0
}

/** Refuse to copy or move a folder into itself. */
export function refuseItself(from: Place, to: Place): void {
  if (from.path === to.path || to.path.startsWith(`${from.path}/`))
    throw new SaltInvocationError(`${to.path} is ${from.path} itself, or in it`)
}

/** Move a file, link or folder, also to another file system. */
export async function moveTree(from: Place, to: Place, signal: AbortSignal): Promise<void> {
  try {
    await rename(from.at, to.at)
  } catch (error) {
    const { code, errno } = error as NodeJS.ErrnoException
    if (code !== 'EXDEV')
      throw Object.assign(new Error(code), { code, errno, path: from.path, dest: to.path })
    refuseItself(from, to)
    await copyTree(from, to, signal)
    await removeTree(from.at, from.path, signal)
  }
}
