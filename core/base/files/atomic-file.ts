import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsync,
  linkSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFile,
  writeFileSync,
} from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { cannotWrite } from './file-problem.ts'

/** Calls that take long. The others are synchronous: to hand them to other threads takes longer. */
const sync = promisify(fsync)
const write = promisify(writeFile)
/** Bytes, or UTF-16 code units of a text, that are written at once. */
const SMALL = 64 * 1024

interface FileOptions {
  /** Permission bits of the new file, set exactly, whatever the umask is; 0600 by default. */
  readonly mode?: number
}

/**
 * Replace a file so that a reader, or a crash at any moment, sees the old content or the new, never a part.
 * When the promise resolves the content is on disk. Rejects with a sentence that names the file, and the
 * code of the system's error; the old file is then untouched.
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: FileOptions = {},
): Promise<void> {
  await withTemporary(path, data, options, (temporary) => renameSync(temporary, path))
  await syncDirectory(dirname(path))
}

/** Replace a file as {@link writeFileAtomic} does, and keep its permission bits; a new file gets 0644 less the umask, or another mode. */
export async function replaceFile(
  path: string,
  data: string | Uint8Array,
  modeOfNew = 0o644 & ~process.umask(),
): Promise<void> {
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => modeOfNew,
  )
  await writeFileAtomic(path, data, { mode })
}

/**
 * Create a file that must not exist yet. Resolves with false, and changes nothing, if it does exist. Of several attempts
 * at once exactly one succeeds, and no reader sees the file without its whole content.
 */
export async function createFileExclusive(
  path: string,
  data: string | Uint8Array,
  options: FileOptions = {},
): Promise<boolean> {
  try {
    await withTemporary(path, data, options, (temporary) => {
      linkSync(temporary, path)
      unlinkSync(temporary)
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  await syncDirectory(dirname(path))
  return true
}

interface FillOptions extends FileOptions {
  readonly owner?: { readonly uid: number; readonly gid: number }
  /**
   * Whether to wait until the content is on disk (default). False suits files that can be made again after a power
   * failure.
   */
  readonly durable?: boolean
}

/**
 * Replace a file as {@link writeFileAtomic} does, with content that `fill` writes in parts. Nothing changes if `fill`
 * rejects.
 */
export async function fillFileAtomic(
  path: string,
  fill: (file: FileHandle) => Promise<void>,
  { mode = 0o600, owner, durable = true }: FillOptions = {},
): Promise<void> {
  const temporary = temporaryFor(path)
  try {
    const file = await openNew(temporary)
    try {
      await fill(file)
      if (owner) await file.chown(owner.uid, owner.gid)
      await file.chmod(mode)
      if (durable) await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  if (durable) await syncDirectory(dirname(path))
}

/** Replace a file as {@link fillFileAtomic} does, not durably, by synchronous calls, which for small files take a tenth of the time. */
export function fillFileAtomicSync(
  path: string,
  fill: (file: number) => void,
  { mode = 0o600, owner }: Pick<FillOptions, 'mode' | 'owner'> = {},
): void {
  const temporary = temporaryFor(path)
  try {
    const file = openSync(temporary, NEW, 0o600)
    try {
      fill(file)
      if (owner) fchownSync(file, owner.uid, owner.gid)
      fchmodSync(file, mode)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

const PREFIX = '.tmp-'

const temporaryFor = (path: string): string =>
  join(dirname(path), `${PREFIX}${randomBytes(9).toString('hex')}`)

/** Whether a file name is that of a temporary file, which a process leaves behind if it is killed while writing. */
export const isTemporary = (name: string): boolean => name.startsWith(PREFIX)

/** Remove an open temporary file by its descriptor, because the process that was to move it into place has ended. */
export function removeTemporary(descriptor: number): void {
  try {
    const path = readlinkSync(`/proc/self/fd/${descriptor}`)
    if (isTemporary(basename(path))) unlinkSync(path)
  } catch {} // it is gone already
}

/**
 * Write the content to a new file beside `path`, sync it, and move it into place. Removes the new file after a failure.
 */
async function withTemporary(
  path: string,
  data: string | Uint8Array,
  { mode = 0o600 }: FileOptions,
  moveIntoPlace: (temporary: string) => void,
): Promise<void> {
  const temporary = temporaryFor(path)
  try {
    await writeNew(temporary, data, mode)
    moveIntoPlace(temporary)
  } catch (error) {
    await rm(temporary, { force: true })
    throw cannotWrite(path, error)
  }
}

const NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

const openNew = (path: string): Promise<FileHandle> => open(path, NEW, 0o600)

async function writeNew(path: string, data: string | Uint8Array, mode: number): Promise<void> {
  const file = openSync(path, NEW, 0o600)
  try {
    if (data.length <= SMALL) writeFileSync(file, data)
    else await write(file, data)
    fchmodSync(file, mode)
    await sync(file)
  } finally {
    closeSync(file)
  }
}

/** Directories that are being synced, and the sync that begins when that one has ended. */
const syncing = new Map<string, { readonly ended: Promise<void>; next?: Promise<void> }>()

/**
 * Sync the directory, so that a new name in it survives a power failure. Callers that come during a sync share the next one, as
 * in a storm of sign-ins.
 */
function syncDirectory(path: string): Promise<void> {
  const running = syncing.get(path)
  if (!running) return startSync(path)
  running.next ??= running.ended.then(() => startSync(path))
  return running.next
}

function startSync(path: string): Promise<void> {
  const synced = syncNow(path)
  const ended = synced.catch(() => {}).then(() => void syncing.delete(path))
  syncing.set(path, { ended })
  return synced
}

async function syncNow(path: string): Promise<void> {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await sync(directory)
  } finally {
    closeSync(directory)
  }
}
