import {
  chmod,
  chown,
  copyFile,
  lstat,
  open,
  readFile,
  realpath,
  rename,
  stat,
  utimes,
} from 'node:fs/promises'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { fillFileAtomic } from '#internal'
import { attempt, errorText } from './paths.ts'

/** The content of a text file, and how it is encoded. */
export interface Text {
  readonly text: string
  /** UTF-8, or for other files one character a byte, so that all bytes survive a change. */
  readonly encoding: 'utf8' | 'latin1'
}

/** Read a text. */
export async function readText(path: string): Promise<Text> {
  const content = await attempt(readFile(path))
  const text = content.toString('utf8')
  return Buffer.from(text).equals(content)
    ? { text, encoding: 'utf8' }
    : { text: content.toString('latin1'), encoding: 'latin1' }
}

/** Read a text that is to be edited, and refuse a binary file. */
export async function readEditable(path: string): Promise<Text> {
  const content = await attempt(readFile(path))
  if (isBinary(content))
    throw new SaltInvocationError(`Cannot perform string replacements on a binary file: ${path}`)
  return readText(path)
}

const SAMPLE_BYTES = 512

/** Whether content is binary, by Salt's rule: it has a zero byte, or more than 30 % of its beginning is not text. */
function isBinary(content: Buffer): boolean {
  const sample = content.subarray(0, SAMPLE_BYTES)
  if (sample.includes(0)) return true
  if (Buffer.from(content.toString('utf8')).equals(content)) return false
  const strange = sample.filter((byte) => !isTextByte(byte)).length
  return strange / sample.length > 0.3
}

const isTextByte = (byte: number): boolean =>
  (byte >= 0x20 && byte <= 0x7e) || [0x07, 0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x1b].includes(byte)

/**
 * Replace the content of a file, and keep its owner and mode. Readers see the old content or the new. A file with
 * several hard links is written in place if they are to stay the same file.
 */
export async function writeContent(
  path: string,
  content: string | Buffer,
  { encoding = 'utf8', keepLinks = true }: { encoding?: 'utf8' | 'latin1'; keepLinks?: boolean } = {},
): Promise<void> {
  const bytes = typeof content === 'string' ? Buffer.from(content, encoding) : content
  const target = await realpath(path).catch(() => path)
  const known = await stat(target).catch(() => undefined)
  try {
    if (known && (!known.isFile() || (keepLinks && known.nlink > 1))) await writeInPlace(target, bytes)
    else
      await fillFileAtomic(target, (file) => file.writeFile(bytes), {
        mode: known ? known.mode & 0o7777 : 0o666 & ~process.umask(),
        ...(known && { owner: { uid: known.uid, gid: known.gid } }),
      })
  } catch (error) {
    throw new CommandExecutionError(`Unable to write file '${path}'. Exception: ${errorText(error)}`)
  }
}

async function writeInPlace(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Copy a file with its owner, mode and times, and move the copy into place. A symlink at that place is replaced, not
 * followed.
 */
export async function keepCopy(path: string, copy: string): Promise<void> {
  const { mode, uid, gid, atime, mtime } = await stat(path)
  const temporary = `${copy}.${process.pid}.tmp`
  const planted = await lstat(temporary).catch(() => undefined)
  if (planted) throw new CommandExecutionError(`Unable to write ${temporary}: it exists; remove it`)
  await attempt(copyFile(path, temporary))
  await chown(temporary, uid, gid)
  await chmod(temporary, mode & 0o7777)
  await utimes(temporary, atime, mtime)
  await attempt(rename(temporary, copy))
}
