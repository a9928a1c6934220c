/**
 * Places of files that are changed. A path is followed step by step with open folders, so that nobody can lead the
 * change elsewhere by renaming a folder or planting a link meanwhile.
 */
import { constants, existsSync, type Stats } from 'node:fs'
import { type FileHandle, open, readlink, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CommandExecutionError } from 'salt-ts'
import { checkPath, systemError } from './paths.ts'

/** The file at a place. @throws CommandExecutionError if there is none, or if it is a pipe or socket, with others at its end */
export function heldFile({ file, path }: Place): Held {
  if (!file) throw missing('ENOENT', path)
  if (file.stats.isFIFO() || file.stats.isSocket())
    throw new CommandExecutionError(
      `${path} is a ${file.stats.isFIFO() ? 'named pipe' : 'socket'}, and not a file that keeps what is written to it`,
    )
  return file
}

/** The name of a held file for a program of this user, to which it is a link. */
export const heldForProgram = (at: string): string => at.replace('/proc/self/', `/proc/${process.pid}/`)

/** A place for a program of this user, which runs in the folder of the file. */
export function forProgram({ at }: Place): { readonly cwd: string; readonly name: string } {
  return { cwd: heldForProgram(dirname(at)), name: `./${basename(at)}` }
}

/** A file that is held open: `at` names this very file, whatever happens to its path. */
interface Held {
  readonly at: string
  readonly stats: Stats
}

export interface Place {
  /** The path with all symbolic links resolved. */
  readonly path: string
  /** The name for operations in the folder, such as a rename. */
  readonly at: string
  /** Facts about the folder. */
  readonly folder: Stats
  /** Undefined if nothing is there yet. */
  readonly file?: Held | undefined
}

interface PlaceOptions {
  /** Whether a symbolic link at the end of the path is followed (default). */
  readonly follow?: boolean
}

/** Flag of Linux to refer to a file without opening it, which neither needs rights nor waits for the other end of a pipe. */
const O_PATH = 0x200000
export const hasDescriptors = process.platform === 'linux' && existsSync('/proc/self/fd')
const HOLD = hasDescriptors ? O_PATH | constants.O_NOFOLLOW : constants.O_RDONLY | constants.O_NONBLOCK

const MAX_LINKS = 40

interface Step {
  readonly handle: FileHandle
  readonly path: string
  readonly at: string
  readonly stats: Stats
}

/** A link of another user was followed: what it leads to has to belong to this user, too. */
interface Debt {
  readonly link: string
  readonly uid: number
}

/** Find the place of a path, hold it while `work` runs, and refuse links that others may have planted. */
export async function withPlace<T>(
  given: string,
  work: (place: Place) => Promise<T>,
  { follow = true }: PlaceOptions = {},
): Promise<T> {
  const open: Step[] = []
  try {
    checkPath(given)
    if (given === '') throw missing('ENOENT', given)
    const path = given.startsWith('/') ? given : `${process.cwd()}/${given}`
    return await work(await descend(path, follow, open))
  } finally {
    await Promise.all(open.map(({ handle }) => handle.close()))
  }
}

async function hold(at: string, path: string): Promise<Step | undefined> {
  try {
    const handle = await open(at, HOLD)
    return {
      handle,
      path,
      at: hasDescriptors ? `/proc/self/fd/${handle.fd}` : path,
      stats: await handle.stat(),
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw systemError(error, path)
  }
}

const parts = (path: string): string[] =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .reverse()

async function descend(given: string, follow: boolean, held: Step[]): Promise<Place> {
  const keep = (step: Step | undefined): Step | undefined => {
    if (step) held.push(step)
    return step
  }
  const root = keep(await hold('/', '/')) as Step
  const todo: (string | Debt)[] = parts(given)
  let folder = root
  let last: Step | undefined = root
  let name = '.'
  let links = 0
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (typeof next !== 'string') {
      await settle(next, last, folder)
      continue
    }
    if (last) folder = last
    if (!last || !folder.stats.isDirectory()) throw missing(last ? 'ENOTDIR' : 'ENOENT', given)
    name = next
    const path = name === '..' ? dirname(folder.path) : join(folder.path, name)
    last = keep(await hold(`${folder.at}/${name}`, path))
    const isEnd = !todo.some((each) => typeof each === 'string')
    if (!last?.stats.isSymbolicLink() || (isEnd && !follow)) continue
    if (++links > MAX_LINKS) throw missing('ELOOP', given)
    const target = await readlink(`${folder.at}/${name}`)
    todo.push(...debtsOf(last, folder), ...parts(target))
    last = target.startsWith('/') ? root : folder
  }
  if (name === '..' || last === root) folder = last as Step
  if (follow && given.endsWith('/') && !last?.stats.isDirectory())
    throw missing(last ? 'ENOTDIR' : 'EISDIR', given)
  return {
    path: last?.path ?? join(folder.path, name),
    at: `${folder.at}/${name}`,
    folder: folder.stats,
    file: last && { at: last.at, stats: last.stats },
  }
}

export const isTrusted = (uid: number): boolean => uid === 0 || uid === process.getuid?.()

/** List the users, other than trusted ones, who may have made a link: its owner, and those who may rename files in its folder. */
function debtsOf(link: Step, { stats: folder }: Step): Debt[] {
  const STICKY = 0o1000
  const anybody = (folder.mode & 0o002) !== 0 && (folder.mode & STICKY) === 0
  const authors = new Set([link.stats.uid, folder.uid, ...(anybody ? [-1] : [])])
  return [...authors].filter((uid) => !isTrusted(uid)).map((uid) => ({ link: link.path, uid }))
}

async function settle({ link, uid }: Debt, reached: Step | undefined, folder: Step): Promise<void> {
  const end = reached ?? folder
  const owner = end.stats.uid
  const isOfKernel = KERNELS.includes((await statfs(end.at)).type)
  if (owner === uid && !isOfKernel) return
  const whose = isOfKernel ? 'is a part of the kernel' : `belongs to the user ${owner}`
  throw new CommandExecutionError(
    `${link} is a symbolic link that ${uid < 0 ? 'anybody' : `the user ${uid}`} may have planted, and leads to ${end.path}, which ${whose}. It is not followed: remove the link, or name what it leads to`,
  )
}

/** The file systems of /proc and /sys, where files of a user do what only root may do. */
const KERNELS = [0x9fa0, 0x62656572]

function missing(code: 'ENOENT' | 'ENOTDIR' | 'EISDIR' | 'ELOOP', path: string): Error {
  const numbers = { ENOENT: -2, ENOTDIR: -20, EISDIR: -21, ELOOP: -40 }
  return systemError(Object.assign(new Error(code), { code, errno: numbers[code] }), path)
}

/** Whether others than the owner of a folder may add names to it. */
const isOpenToOthers = ({ mode, gid }: Stats): boolean =>
  (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== 0 && gid !== process.getgid?.())

/**
 * Refuse a file with several names if others may add names to its folder: it may be a file of somebody else under a
 * planted name.
 */
export function refuseForeignName({ path, folder, file }: Place): void {
  if (!file?.stats.isFile() || file.stats.nlink < 2) return
  const isForeign = !isTrusted(folder.uid) && folder.uid !== file.stats.uid
  if (!isOpenToOthers(folder) && !isForeign) return
  throw new CommandExecutionError(
    `${path} is a hard link that others may have planted in this folder. It is left alone: remove it, or name the file by another of its ${file.stats.nlink} names`,
  )
}
