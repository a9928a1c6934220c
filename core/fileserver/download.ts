import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FileHash } from '../author/files.ts'
import { SaltError } from '../base/errors.ts'
import { asBytes, isRecord } from '../wire/bytes.ts'

/** Sends the load of a request about files and gives the answer. */
export type Ask = (load: Readonly<Record<string, unknown>>) => Promise<unknown>

export interface Download {
  readonly path: string
  readonly saltenv: string
  /** Level of compression on the way, 1 to 9; 0: none. */
  readonly gzip?: number
}

const decompress = promisify(gunzip)
/** No piece of a file is larger, whatever it claims to unpack to. */
const MAX_PIECE = 256 * 1024 * 1024

/**
 * Bring a file piece by piece (wire protocol §7.4). When it resolves, what was written has the hash that is wanted.
 * @throws SaltError COMMAND_EXECUTION if it has not, with `changed` in its data, or if the master sends no file
 */
export async function download(ask: Ask, file: Download, wanted: FileHash, into: FileHandle): Promise<void> {
  const { path, saltenv, gzip } = file
  const hash = createHash(wanted.hash_type)
  const isComplete = () => hash.copy().digest('hex') === wanted.hsum
  for (let loc = 0; ; ) {
    const answer = await ask({ cmd: '_serve_file', path, saltenv, loc, ...(gzip && { gzip }) })
    const piece = await readPiece(answer, path)
    await into.appendFile(piece)
    hash.update(piece)
    loc += piece.length
    if (isComplete()) return
    if (piece.length === 0) throw changed(path, loc)
  }
}

async function readPiece(answer: unknown, path: string): Promise<Buffer> {
  const data = isRecord(answer) ? asBytes(answer.data) : undefined
  if (!isRecord(answer) || !data)
    throw new SaltError(
      'COMMAND_EXECUTION',
      `The master sent no piece of salt://${path}: ${JSON.stringify(answer)}`,
    )
  if (!answer.gzip || data.length === 0) return data
  return decompress(data, { maxOutputLength: MAX_PIECE })
}

const changed = (path: string, bytes: number): SaltError =>
  new SaltError(
    'COMMAND_EXECUTION',
    `What came of salt://${path} (${bytes} bytes) does not have the hash the master gave: it was changed meanwhile, ` +
      'or was damaged on the way. Try again.',
    { changed: true },
  )
