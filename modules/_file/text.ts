import { isUtf8 } from 'node:buffer'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { fillFileAtomic } from '#internal'
import { errorText, systemCode, systemError } from './paths.ts'
import { heldFile, type Place, refuseForeignName, withPlace } from './place.ts'
import { chunksOf, noFile, readWhole, withFile } from './reading.ts'

/** The content of a text file, and how it is encoded. */
export interface Text {
  readonly text: string
  /** UTF-8, or for other files one character a byte, so that all bytes survive a change. */
  readonly encoding: 'utf8' | 'latin1'
}

/** Decode a content. */
export function textOf(content: Buffer): Text {
  const encoding = isUtf8(content) ? 'utf8' : 'latin1'
  return { text: content.toString(encoding), encoding }
}

export interface EditedText extends Text {
  readonly place: Place
}

/**
 * Read a text, and hold the file while `work` changes it. A binary file is refused, unless `anyContent` is set. `missing` is
 * thrown if there is no such file.
 */
export function editText<T>(
  path: string,
  work: (edited: EditedText) => Promise<T>,
  { missing, anyContent = false }: { missing?: Error; anyContent?: boolean } = {},
): Promise<T> {
  return withPlace(path, async (place) => {
    if (!place.file)
      throw missing ?? new CommandExecutionError(`[Errno 2] No such file or directory: '${path}'`)
    const content = await readWhole(place.file.at, place.path)
    if (!anyContent && isBinary(content))
      throw new SaltInvocationError(`Cannot perform string replacements on a binary file: ${place.path}`)
    return work({ place, ...textOf(content) })
  })
}

const SAMPLE_BYTES = 512

/** Whether content is binary, by Salt's rule: it has a zero byte, or more than 30 % of its beginning is not text. */
export function isBinary(content: Buffer): boolean {
  const sample = content.subarray(0, SAMPLE_BYTES)
  if (sample.includes(0)) return true
  if (isUtf8(content)) return false
  const strange = sample.filter((byte) => !isTextByte(byte)).length
  return strange / sample.length > 0.3
}

const isTextByte = (byte: number): boolean =>
  (byte >= 0x20 && byte <= 0x7e) || [0x08, 0x09, 0x0a, 0x0c, 0x0d].includes(byte)

interface WriteOptions {
  readonly encoding?: 'utf8' | 'latin1'
  /** Whether the other names of the file are to stay names of it. */
  readonly keepLinks?: boolean
  /** Mode of a new file. */
  readonly mode?: number
}

/**
 * Replace the content of a file, and keep its owner and mode. Readers see the old content or the new. A file with
 * several hard links is written in place if they are to stay the same file, as are devices and files of /proc.
 */
export async function writeContent(
  place: Place,
  content: string | Uint8Array,
  { encoding = 'utf8', keepLinks = true, mode }: WriteOptions = {},
): Promise<void> {
  const bytes = typeof content === 'string' ? Buffer.from(content, encoding) : content
  try {
    const known = place.file?.stats
    if (known && (!known.isFile() || (keepLinks && known.nlink > 1))) return await writeInPlace(place, bytes)
    await replaceContent(place, (file) => file.writeFile(bytes), { mode }).catch((error) => {
      if (known && ONLY_IN_PLACE.includes(systemCode(error) ?? '')) return writeInPlace(place, bytes)
      throw error
    })
  } catch (error) {
    throw new CommandExecutionError(
      `Unable to write file '${place.path}'. Exception: ${errorText(error, place.path)}`,
    )
  }
}

/** Errors of a folder that takes no new file, and of a file that is a mount point: it is the file itself that is written. */
const ONLY_IN_PLACE = ['EACCES', 'EBUSY', 'ENOENT', 'EPERM', 'EROFS']

interface NewFile {
  /** Mode if nothing is there yet. */
  readonly mode?: number | undefined
  /** Whether to wait until the content is on disk (default). */
  readonly durable?: boolean
  /** Owner and mode in any case. -1 is the owner of the file that is there. */
  readonly exact?: { readonly uid: number; readonly gid: number; readonly mode: number } | undefined
}

/** Fill a new file, and move it into place, by default with the owner and mode of the one that is there. */
export async function replaceContent(
  { path, at, file }: Place,
  fill: Parameters<typeof fillFileAtomic>[1],
  { mode = 0o666 & ~process.umask(), exact, durable = true }: NewFile = {},
): Promise<void> {
  const known = file?.stats
  if (known && !known.isFile()) throw noFile(known, path)
  const owner = {
    uid: exact && exact.uid !== -1 ? exact.uid : (known?.uid ?? -1),
    gid: exact && exact.gid !== -1 ? exact.gid : (known?.gid ?? -1),
  }
  const bits = exact?.mode ?? (known ? known.mode & 0o7777 : mode)
  await fillFileAtomic(at, fill, { mode: bits, owner, durable }).catch((error) => {
    throw systemError(error, path)
  })
}

/**
 * Write over the content of a file. What is longer than the old content is written first, so that a full disk leaves the
 * old content as it was.
 */
async function writeInPlace(place: Place, bytes: Uint8Array): Promise<void> {
  refuseForeignName(place)
  const { O_WRONLY, O_TRUNC, O_NONBLOCK, O_NOCTTY } = constants
  const isFile = place.file?.stats.isFile() ?? false
  const flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | (isFile ? 0 : O_TRUNC)
  const file = await open(heldFile(place).at, flags)
  try {
    if (!isFile) return await file.writeFile(bytes)
    const { size } = await file.stat()
    await extendFile(file, bytes.subarray(size), size)
    await writeAll(file, bytes.subarray(0, size), 0)
    await file.truncate(bytes.length)
    await file.sync().catch(() => undefined)
  } finally {
    await file.close()
  }
}

/** Write behind the end of a file; a failure cuts it back to what it was. */
export async function extendFile(file: FileHandle, bytes: Uint8Array, size: number): Promise<void> {
  try {
    await writeAll(file, bytes, size)
  } catch (error) {
    await file.truncate(size)
    throw error
  }
}

/** Copy a file with its owner, mode and times to another name in its folder. A symlink at that name is replaced, not followed. */
export async function keepCopy({ path, at, file }: Place, suffix: string): Promise<void> {
  if (!file) return
  if (suffix.includes('/'))
    throw new SaltInvocationError(`backup is the ending of a name, and has no slash: ${suffix}`)
  const copy: Place = { path: `${path}${suffix}`, at: `${at}${suffix}`, folder: file.stats, file }
  await withFile(file.at, (source) => copyInto(copy, source, { times: file.stats }), { path })
}

interface CopyOptions {
  readonly times?: Stats
  readonly signal?: AbortSignal
}

/**
 * Replace the content of a place by that of an open file, and keep its holes. `times` are those that the file gets. It ends when
 * `signal` is aborted.
 */
export function copyInto(
  place: Place,
  source: FileHandle,
  { times, signal, ...created }: NewFile & CopyOptions = {},
): Promise<void> {
  const fill = async (file: FileHandle) => {
    let position = 0
    for await (const chunk of chunksOf(source)) {
      signal?.throwIfAborted()
      if (!isZero(chunk)) await writeAll(file, chunk, position)
      position += chunk.length
    }
    await file.truncate(position)
    if (times) await file.utimes(times.atime, times.mtime)
  }
  return replaceContent(place, fill, created)
}

const isZero = (chunk: Buffer): boolean => chunk[0] === 0 && chunk.equals(Buffer.alloc(chunk.length))

export async function writeAll(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let from = 0; from < chunk.length; )
    from += (await file.write(chunk, from, chunk.length - from, position + from)).bytesWritten
}
