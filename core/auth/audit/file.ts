import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { type AuditEntry, type AuditNote, makeLine, NO_HASH, readLine } from './line.ts'

/** The last line of the chain, and the position of its end. */
export interface ChainEnd {
  readonly seq: number
  readonly hash: string
  /** Device and inode of the file. */
  readonly file: string
  readonly size: number
  /** Number of later lines that could not be written. */
  readonly leftOut?: number
}

/** The end of an empty chain. */
export const EMPTY_CHAIN_END: ChainEnd = { seq: 0, hash: NO_HASH, file: '', size: 0 }

export interface AppendResult {
  readonly time: string
  readonly entry: AuditEntry | AuditNote
}

/** Bytes at the end of a file that are searched for the last line. No line is longer. */
const TAIL_BYTES = 1_048_576

/**
 * Append lines to the chain that ends with `last`, if that is known. Only one process at a time may do so. First repairs what a
 * killed process or a power failure left behind; the log notes that, and lines that were left out. Writes all lines or none.
 * Returns the new end. @throws the system's error
 */
export function appendToChain(
  path: string,
  last: ChainEnd | undefined,
  entries: readonly AppendResult[],
): ChainEnd {
  const file = openForLines(path)
  try {
    const found = endOf(file, last)
    const time = new Date().toISOString()
    const note = (reason: string, more = {}): AppendResult => ({
      time,
      entry: { act: 'log', reason, ...more },
    })
    const { leftOut = 0 } = last ?? EMPTY_CHAIN_END
    const lost =
      leftOut > 0
        ? [note(`${leftOut} lines before this one could not be written.`, { left_out: leftOut })]
        : []
    let { seq, hash } = found
    const lines = [...found.notes.map((reason) => note(reason)), ...lost, ...entries].map(
      ({ time, entry }) => {
        const line = makeLine(++seq, hash, time, entry)
        hash = line.hash
        return line.text
      },
    )
    const text = Buffer.from(lines.join(''))
    if (found.torn) ftruncateSync(file, found.size)
    writeWhole(file, text, found.size)
    return { seq, hash, file: found.file, size: found.size + text.length }
  } finally {
    closeSync(file)
  }
}

function openForLines(path: string): number {
  const { O_RDWR, O_CREAT, O_APPEND, O_NOFOLLOW } = constants
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  return openSync(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600)
}

interface Found extends ChainEnd {
  readonly torn: boolean
  readonly notes: readonly string[]
}

function endOf(file: number, last: ChainEnd | undefined): Found {
  const stat = fstatSync(file)
  if (!stat.isFile()) throw new Error('it is not a file')
  const name = `${stat.dev}:${stat.ino}`
  if (last?.file === name && last.size === stat.size) return { ...last, torn: false, notes: [] }
  const { seq: knownSeq, hash: knownHash } = last ?? EMPTY_CHAIN_END
  const known = { seq: knownSeq, hash: knownHash, file: name }
  if (stat.size === 0) {
    const wasEmptied = last?.file === name && last.size > 0
    return { ...known, size: 0, torn: false, notes: wasEmptied ? ['The file was emptied.'] : [] }
  }
  const { line, torn, foreign } = readTail(file, stat.size)
  const seq = line?.seq ?? 0
  const end = line && seq > known.seq ? { ...known, seq, hash: line.hash } : known
  const missing = known.seq - seq
  const notes = [
    ...(torn > 0 ? [`An unfinished line was removed: ${torn} bytes.`] : []),
    ...(foreign ? ['The content before this line was not written by this log.'] : []),
    ...(missing > 0 && line ? [`The file ended with line seq ${seq}: the next ${missing} are missing.`] : []),
  ]
  return { ...end, size: stat.size - torn, torn: torn > 0, notes }
}

/** Return the last intact line, and the number of bytes of an unfinished line after it. */
function readTail(file: number, size: number) {
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES))
  readSync(file, tail, 0, tail.length, size - tail.length)
  const end = tail.lastIndexOf('\n') + 1
  if (end === 0 && size > TAIL_BYTES)
    throw new Error('its content has no lines, so it is not an audit log. Move it away')
  const lines = tail.toString('utf8', 0, end).split('\n').slice(0, -1)
  const line = lines.map(readLine).findLast((line) => line?.whole)
  return { line, torn: tail.length - end, foreign: line === undefined && lines.length > 0 }
}

/** Write the whole text. If there is no space for all of it, none of it remains. */
function writeWhole(file: number, text: Buffer, start: number): void {
  try {
    for (let written = 0; written < text.length; ) written += writeSync(file, text, written)
  } catch (error) {
    ftruncateSync(file, start)
    throw error
  }
}
