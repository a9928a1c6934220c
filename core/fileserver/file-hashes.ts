import { createHash, type Hash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import type { ServedFile } from '../author/files.ts'

const PIECE_BYTES = 1024 * 1024
const MAX_ENTRIES = 50_000
/** A file that was changed more recently may be changed again without a change of its timestamps. */
const TICK_MS = 2_000

/** A cache of file hashes. An entry is valid until the times, size or inode of its file change. */
export class FileHashes {
  readonly #type: string
  readonly #known = new Map<string, { readonly stamp: string; readonly hash: Promise<string> }>()

  /** `type` is the value of the option `hash_type`. */
  constructor(type: string) {
    this.#type = type
  }

  /** Return the hash of an open file in hexadecimal. Concurrent calls for the same file share the work. */
  async of({ handle, path, stat }: ServedFile): Promise<string> {
    const stamp = stampOf(stat)
    const known = this.#known.get(path)
    if (known?.stamp === stamp) return known.hash
    const hash = fileDigest(handle, this.#type)
    this.#keep(path, { stamp, hash })
    try {
      return await hash
    } catch (error) {
      this.#forget(path, hash)
      throw error
    } finally {
      await this.#forgetUnsettled(path, hash, handle, stamp)
    }
  }

  #forget(path: string, hash: Promise<string>): void {
    if (this.#known.get(path)?.hash === hash) this.#known.delete(path)
  }

  #keep(path: string, entry: { readonly stamp: string; readonly hash: Promise<string> }): void {
    const [oldest] = this.#known.keys()
    if (this.#known.size >= MAX_ENTRIES && oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(path, entry)
  }

  /** Forget the hash if the file was changed while, or shortly before, it was read: its times may not show that. */
  async #forgetUnsettled(path: string, hash: Promise<string>, handle: FileHandle, stamp: string) {
    const now = await handle.stat({ bigint: true }).catch(() => undefined)
    const isSettled = now && stampOf(now) === stamp && Date.now() - Number(now.mtimeMs) > TICK_MS
    if (!isSettled) this.#forget(path, hash)
  }
}

/** Return the digest of an open file, read from its beginning without blocking the event loop. */
export async function fileDigest(handle: FileHandle, type: string): Promise<string> {
  const hash: Hash = createHash(type)
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(piece, 0, PIECE_BYTES, at)
    if (bytesRead === 0) return hash.digest('hex')
    hash.update(piece.subarray(0, bytesRead))
    at += bytesRead
  }
}

const stampOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':')
