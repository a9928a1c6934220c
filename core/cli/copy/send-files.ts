/** Sends files to minions by jobs, as Salt's `salt-cp` does. */
import { createReadStream, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { SaltError } from '../../base/errors.ts'
import { hasReturned, type LocalClient, type PublishRequest } from '../../client/index.ts'
import type { FilesToSend, LocalFile } from './local-files.ts'

/** The minions to send to, and how long to wait for each job. */
export type Recipients = Pick<PublishRequest, 'tgt' | 'tgtType' | 'delimiter' | 'timeout'>

/** What became of the files, by minion. */
export interface Sent {
  /** By path on the minion: true, or what went wrong; a text for a minion that did not return. */
  readonly minions: Readonly<Record<string, unknown>>
  readonly hasFailures: boolean
  readonly missing: readonly string[]
}

/** Send texts with one job (`cp.recv`). Rejects with INVOCATION for a file that is none. */
export async function sendTexts(
  client: LocalClient,
  recipients: Recipients,
  files: readonly LocalFile[],
  dest: string,
): Promise<Sent> {
  const texts = Object.fromEntries(files.map(({ path }) => [path, textOf(path)]))
  const results = Object.values(
    await client.cmd({ ...recipients, fun: 'cp.recv', kwarg: { files: texts, dest } }),
  )
  const isRight = (value: unknown) =>
    typeof value === 'object' && value !== null && Object.values(value).every((one) => one === true)
  return {
    minions: Object.fromEntries(
      results.map((result) => [result.id, hasReturned(result) ? result.return : result.reason]),
    ),
    hasFailures: results.some((result) => hasReturned(result) && !isRight(result.return)),
    missing: results.flatMap((result) => (hasReturned(result) ? [] : result.id)),
  }
}

/** The arguments of `cp.recv_chunked`. */
interface Piece {
  readonly dest: string
  /** Base64; null makes an empty folder. */
  readonly chunk: string | null
  readonly append?: boolean
  readonly compressed?: boolean
  readonly mode?: number
}

export interface ChunkSettings {
  readonly chunkBytes: number
  readonly compress: boolean
}

/**
 * Send files in pieces, each with a job (`cp.recv_chunked`). A minion that refuses a piece gets no more of its file, and one that does not
 * return gets nothing more.
 */
export async function sendChunked(
  client: LocalClient,
  recipients: Recipients,
  { files, emptyFolders }: FilesToSend,
  { chunkBytes, compress: compressed }: ChunkSettings,
): Promise<Sent> {
  const outcomes = new Map<string, Record<string, unknown>>()
  const missing = new Map<string, string>()
  let present: readonly string[] | undefined

  /** Send one piece by its keywords, since base64 that ends in `=` reads as a keyword. Returns the minions that have it. */
  const send = async (piece: Piece, to = present) => {
    const target = to ? { ...recipients, tgt: to, tgtType: 'list' } : recipients
    const taken: string[] = []
    for await (const result of await client.cmdIter({ ...target, fun: 'cp.recv_chunked', kwarg: piece })) {
      if (!hasReturned(result)) {
        missing.set(result.id, result.reason)
        continue
      }
      outcomes.set(result.id, { ...outcomes.get(result.id), [piece.dest]: result.return })
      if (result.return === true) taken.push(result.id)
    }
    present = (present ?? [...outcomes.keys()]).filter((id) => !missing.has(id))
    return taken
  }

  for (const { path, remote: dest, mode } of files) {
    let to = present
    let append = false
    for await (const content of piecesOf(path, chunkBytes)) {
      if (to?.length === 0) break
      const chunk = (compressed ? gzipSync(content) : content).toString('base64')
      to = await send({ dest, chunk, append, compressed, mode }, to)
      append = true
    }
  }
  for (const dest of emptyFolders) if (present?.length !== 0) await send({ dest, chunk: null })
  const values = [...outcomes.values()].flatMap((outcome) => Object.values(outcome))
  return {
    minions: { ...Object.fromEntries(outcomes), ...Object.fromEntries(missing) },
    hasFailures: values.some((value) => value !== true),
    missing: [...missing.keys()],
  }
}

/** Yield the content of a file in pieces; one that is empty, for an empty file. */
async function* piecesOf(path: string, bytes: number): AsyncGenerator<Buffer> {
  let isEmpty = true
  for await (const piece of createReadStream(path, { highWaterMark: bytes })) {
    isEmpty = false
    yield piece as Buffer
  }
  if (isEmpty) yield Buffer.alloc(0)
}

function textOf(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new SaltError('INVOCATION', `${path} is not text in UTF-8; use --chunked (-C) to copy any file.`)
  }
}
