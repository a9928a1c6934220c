import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { type AuditLine, readLine } from './line.ts'

/** A line as it stands in a file. */
export interface FoundLine {
  readonly path: string
  /** In its file, from 1. */
  readonly number: number
  /** Undefined: it is no line of an audit log. */
  readonly line: AuditLine | undefined
  /** False for what stands behind the last line break. */
  readonly finished: boolean
}

/** What is longer is no line. */
const MOST_BYTES = 2_097_152

/**
 * The files of an audit log, oldest first: itself, and what was rotated away to names like `audit.log.1`,
 * `audit.log-20261122.gz` beside it. `unread`: those that are packed in a way that cannot be read here.
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

/** Of its first line; undefined if that is none of an audit log, and 0 if it cannot be read, which its reader is told. */
async function firstSeq(path: string): Promise<number | undefined> {
  try {
    for await (const { line } of linesOf(path)) return line?.seq
    return undefined
  } catch {
    return 0
  }
}

/** Nothing, where there is no such file. Rejects with what the system says if it cannot be read. */
export async function* linesOf(path: string): AsyncGenerator<FoundLine> {
  let rest = Buffer.alloc(0)
  let number = 0
  const found = (text: Buffer, finished: boolean): FoundLine => ({
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
    if (rest.length <= MOST_BYTES) continue
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
    void pipeline(file, unpacked).catch(() => {}) // the reader of `unpacked` is told
    yield* unpacked
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  } finally {
    file.destroy()
  }
}
