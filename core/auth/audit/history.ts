import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type AuditLine, readLine } from './line.ts'

/** A line of a file. */
export interface StoredLine {
  readonly path: string
  /** Number of the line in its file, from 1. */
  readonly number: number
  /** Undefined if it is not a line of an audit log. */
  readonly line: AuditLine | undefined
  /** Whether a line break follows. */
  readonly finished: boolean
}

/** Longer text is not a line. */
const MAX_LINE_BYTES = 2_097_152

/**
 * List the files of an audit log, oldest first: itself, and rotated ones beside it with names like `audit.log.1` and
 * `audit.log-20261122.gz`. `unread` has those with a compression that is not supported.
 */
export async function auditFiles(path: string): Promise<{ files: string[]; unread: string[] }> {
  const [folder, name] = [dirname(path), basename(path)]
  const others = (await readdir(folder).catch(() => []))
    .filter((other) => other.startsWith(name) && /^[.-][\w.-]+$/.test(other.slice(name.length)))
    .map((other) => join(folder, other))
  const unread = others.filter((other) => /\.(xz|bz2|zst|lz4|zip)$/.test(other))
  const found: { file: string; seq: number }[] = []
  for (const file of others.filter((other) => !unread.includes(other))) {
    const seq = await firstSeq(file)
    if (seq !== undefined) found.push({ file, seq })
  }
  found.sort((one, other) => one.seq - other.seq)
  return { files: [...found.map(({ file }) => file), path], unread }
}

/** Return the seq of the first line; undefined if it is not from an audit log, 0 if the file cannot be read, which its reader reports. */
async function firstSeq(path: string): Promise<number | undefined> {
  try {
    for await (const { line } of linesOf(path)) return line?.seq
    return undefined
  } catch {
    return 0
  }
}

/** Yield the lines of a file; none if it does not exist. Rejects with the system's error if it cannot be read. */
export async function* linesOf(path: string): AsyncGenerator<StoredLine> {
  let rest = Buffer.alloc(0)
  let number = 0
  const found = (text: Buffer, finished: boolean): StoredLine => ({
    path,
    number: ++number,
    line: readLine(text.toString()),
    finished,
  })
  for await (const piece of bytesOf(path)) {
    rest = Buffer.concat([rest, piece])
    let start = 0
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', start)) {
      yield found(rest.subarray(start, end), true)
      start = end + 1
    }
    rest = rest.subarray(start)
    if (rest.length <= MAX_LINE_BYTES) continue
    yield found(rest, true)
    rest = Buffer.alloc(0)
  }
  if (rest.length > 0) yield found(rest, false)
}

async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path)
  try {
    if (!path.endsWith('.gz')) return yield* file
    const unpacked = createGunzip()
    void pipeline(file, unpacked).catch(() => {}) // the reader of `unpacked` gets the error
    yield* unpacked
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  } finally {
    file.destroy()
  }
}
