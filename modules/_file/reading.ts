/** Reading files that others may have made: pipes never make it wait, and big files never fill the memory. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { CommandExecutionError } from 'salt-ts'
import { checkPath, systemError } from './paths.ts'

/** Above it a content is not held in memory. */
export const MAX_CONTENT_BYTES = 64 * 2 ** 20
const MAX_CONTENT = `${MAX_CONTENT_BYTES / 2 ** 20} MiB`

interface ReadOptions {
  /** The path for messages, if it is another one. */
  readonly path?: string
  /** Whether devices may be read, too. */
  readonly devices?: boolean
  /** Whether a link is followed (default). */
  readonly follow?: boolean
}

/** Open a file, read from it with `work`, and close it. Folders, pipes and sockets are refused. */
export async function withFile<T>(
  at: string,
  work: (file: FileHandle, stats: Stats) => Promise<T>,
  { path = at, devices = false, follow = true }: ReadOptions = {},
): Promise<T> {
  checkPath(path)
  const file = await open(at, readingFlags(follow)).catch((error) => {
    throw systemError(error, path)
  })
  try {
    const stats = await file.stat()
    if (!stats.isFile() && !(devices && isDevice(stats))) throw noFile(stats, path)
    return await work(file, stats)
  } catch (error) {
    throw systemError(error, path)
  } finally {
    await file.close()
  }
}

function readingFlags(follow: boolean): number {
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW } = constants
  return O_RDONLY | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW)
}

/** Read up to so many bytes from the beginning of a file. */
export const readHead = (path: string, bytes: number, options?: ReadOptions): Promise<Buffer> =>
  withFile(
    path,
    async (file) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0)
      return buffer.subarray(0, bytesRead)
    },
    options,
  )

const SMALL_BYTES = 64 * 1024

/**
 * Read a file that has less than 64 KiB, synchronously, which takes a tenth of the time; undefined if it has more, or is none. For
 * walks through many files.
 */
export function readSmallFile(
  at: string,
  { path = at, follow = true }: Omit<ReadOptions, 'devices'> = {},
): { readonly content: Buffer; readonly stats: Stats } | undefined {
  let file: number | undefined
  try {
    file = openSync(at, readingFlags(follow))
    const stats = fstatSync(file)
    if (!stats.isFile()) return undefined
    const content = Buffer.allocUnsafe(SMALL_BYTES)
    let length = 0
    for (let read = -1; read !== 0; length += read) {
      if (length === SMALL_BYTES) return undefined
      read = readSync(file, content, length, SMALL_BYTES - length, length)
    }
    return { content: content.subarray(0, length), stats }
  } catch (error) {
    throw systemError(error, path)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

const isDevice = (stats: Stats): boolean => stats.isBlockDevice() || stats.isCharacterDevice()

/** The error for what is no file that can be read to its end. */
export function noFile(stats: Stats, path: string): CommandExecutionError {
  if (stats.isDirectory()) return new CommandExecutionError(`[Errno 21] Is a directory: '${path}'`)
  const kind = stats.isFIFO() ? 'named pipe' : isDevice(stats) ? 'device' : 'socket'
  return new CommandExecutionError(
    `${path} is a ${kind}, and not a file that ends; it is neither read nor replaced`,
  )
}

/** The error for a content that is not held in memory. */
export const tooBig = (path: string, size: number): CommandExecutionError =>
  new CommandExecutionError(
    `${path} is too big to be held in memory: ${size} bytes, of at most ${MAX_CONTENT}. Use file.sed, file.grep or another program that goes through it in parts`,
  )

/** Read a whole file, also one of /proc, which has no size. */
export function readWhole(at: string, path = at): Promise<Buffer> {
  return withFile(
    at,
    async (file, { size }) => {
      if (size > MAX_CONTENT_BYTES) throw tooBig(path, size)
      const pieces: Buffer[] = []
      let length = 0
      for await (const piece of chunksOf(file)) {
        pieces.push(piece)
        length += piece.length
        if (length > MAX_CONTENT_BYTES) throw tooBig(path, length)
      }
      return Buffer.concat(pieces, length)
    },
    { path },
  )
}

const CHUNK_BYTES = 256 * 1024

/** Read an open file from its beginning, in pieces. */
export async function* chunksOf(file: FileHandle, chunkBytes = CHUNK_BYTES): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

const WINDOW_STEP_BYTES = 32 * 1024

/** Whether a test is true of the content, or for a big file of any window of 256 KiB, each 32 KiB after the last one. */
export async function anyWindow(
  path: string,
  test: (window: Buffer) => boolean,
  signal?: AbortSignal,
): Promise<boolean> {
  const small = readSmallFile(path)
  if (small) return small.content.length > 0 && test(small.content)
  return withFile(path, async (file) => {
    let window = Buffer.alloc(0)
    let isFirst = true
    for await (const chunk of chunksOf(file, WINDOW_STEP_BYTES)) {
      signal?.throwIfAborted()
      window = Buffer.concat([window, chunk])
      if (window.length < CHUNK_BYTES) continue
      window = window.subarray(-CHUNK_BYTES)
      isFirst = false
      if (test(window)) return true
    }
    return isFirst && window.length > 0 && test(window)
  })
}

/** Read an open file in pieces. @throws CommandExecutionError at a line that is too long to be held in memory */
export async function* chunksOfLines(file: FileHandle): AsyncGenerator<Buffer> {
  let length = 0
  for await (const chunk of chunksOf(file)) {
    const end = chunk.lastIndexOf(LINE_FEED)
    length = end < 0 ? length + chunk.length : chunk.length - end - 1
    if (length > MAX_CONTENT_BYTES)
      throw new CommandExecutionError(`A line is longer than ${MAX_CONTENT}; it is not held in memory`)
    yield chunk
  }
}

const LINE_FEED = 0x0a

/** Go through the lines of a file, many at once, each with its line end. One byte is one character. */
export async function* rawLines(file: FileHandle): AsyncGenerator<string[]> {
  let begun: string[] = []
  for await (const chunk of chunksOfLines(file)) {
    const [first = '', ...others] = chunk.toString('latin1').split(/(?<=\n)/)
    begun.push(first)
    if (!first.endsWith('\n')) continue
    const lines = [begun.join(''), ...others]
    begun = lines.at(-1)?.endsWith('\n') ? [] : [lines.pop() as string]
    yield lines
  }
  if (begun.length > 0) yield [begun.join('')]
}
