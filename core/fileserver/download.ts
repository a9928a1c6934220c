import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FileHash } from '../author/files.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { jsonText } from '../dialect/json.ts'
import { asBytes } from '../wire/bytes.ts'

/** Send the load of a request about files. Resolves with the answer. */
export type Ask = (load: Readonly<Record<string, unknown>>) => Promise<unknown>

/** Return a function that asks as the given one does, and rejects with what `unanswered` returns. */
export const reportUnanswered =
  (ask: Ask): Ask =>
  (load) =>
    ask(load).catch((error: unknown) => {
      throw unanswered(error)
    })

/** Return the error for a request that failed; it has `unanswered` in its data. */
export function unanswered(cause: unknown): SaltError {
  const message = `The file server did not answer: ${messageOf(cause)}`
  return new SaltError('COMMAND_EXECUTION', message, { unanswered: true }, { cause })
}

export interface Download {
  readonly path: string
  readonly saltenv: string
  /** Compression level of the transfer, 1 to 9; 0 for none. */
  readonly gzip?: number
}

const decompress = promisify(gunzip)
/** Number of pieces that are requested at once. */
const AHEAD = 4
/** Bytes that are written together: to hand a small piece to another thread takes as long as to write it. */
const WRITE_BYTES = 2 ** 20
/** Pieces that are written together, at most: each keeps the memory of its whole message. */
const WRITE_PIECES = 64
/** Maximum size of a decompressed piece of a file. */
const MAX_PIECE_BYTES = 256 * 1024 * 1024

/**
 * Download a file piece by piece (wire protocol §7.4), several at once after the first, which shows how long they are. When it
 * resolves, the written content has the expected hash. Rejects with COMMAND_EXECUTION if the hash differs, with `changed` in its data,
 * or if the master sends no file; with the error of the system if a piece cannot be written; and if the signal is aborted.
 */
export async function download(
  ask: Ask,
  file: Download,
  wanted: FileHash,
  into: FileHandle,
  signal?: AbortSignal,
): Promise<void> {
  const { path, saltenv, gzip } = file
  const hash = createHash(wanted.hash_type)
  const isComplete = () => hash.copy().digest('hex') === wanted.hsum
  const fetch = async (loc: number) =>
    readPiece(await ask({ cmd: '_serve_file', path, saltenv, loc, ...(gzip && { gzip }) }), path)
  let ahead: Promise<Buffer>[] = []
  /** Length of a piece; 0 if it is not known. */
  let length = 0
  const unwritten: Buffer[] = []
  let written = 0
  for (let loc = 0; ; ) {
    const piece = await (ahead.shift() ?? fetch(loc))
    signal?.throwIfAborted()
    loc += piece.length
    if (piece.length !== length) {
      ahead = []
      length = length === 0 ? piece.length : 0
    }
    hash.update(piece)
    const isLast = isComplete()
    while (!isLast && length > 0 && ahead.length < AHEAD) {
      const next = fetch(loc + ahead.length * length)
      next.catch(() => undefined) // it is reported when its turn comes
      ahead.push(next)
    }
    unwritten.push(piece)
    const isEnough = loc - written >= WRITE_BYTES || unwritten.length === WRITE_PIECES
    if (isLast || piece.length === 0 || isEnough) {
      await write(unwritten.splice(0), into)
      written = loc
    }
    if (isLast) return
    if (piece.length === 0) throw changed(path, loc)
  }
}

async function write(pieces: readonly Buffer[], into: FileHandle): Promise<void> {
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
  if (bytes === 0) return
  const { bytesWritten } = await into.writev(pieces)
  if (bytesWritten < bytes) await into.appendFile(Buffer.concat(pieces).subarray(bytesWritten)) // rejects with the reason
}

async function readPiece(answer: unknown, path: string): Promise<Buffer> {
  const data = isRecord(answer) ? asBytes(answer.data) : undefined
  if (!isRecord(answer) || !data)
    throw new SaltError('COMMAND_EXECUTION', `The master sent no data of salt://${path}: ${jsonText(answer)}`)
  if (!answer.gzip || data.length === 0) return data
  return decompress(data, { maxOutputLength: MAX_PIECE_BYTES })
}

const changed = (path: string, bytes: number): SaltError =>
  new SaltError(
    'COMMAND_EXECUTION',
    `The received data of salt://${path} (${bytes} bytes) does not have the hash that the master reported: the file was changed ` +
      'meanwhile, or the data was damaged in transit. Try again.',
    { changed: true },
  )
