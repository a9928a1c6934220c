import { closeSync, fstatSync, openSync, type Stats, statSync, writeSync } from 'node:fs'
import { newestCommit } from './salvage/pages.ts'

/**
 * The state of an open file: `gone` if its path has no file or another one; `cut` if it was truncated. A truncated file
 * must not be read through LMDB: the system kills a process that reads beyond the end of a mapped file.
 */
type FileState = 'whole' | 'gone' | 'cut'

/** Place of the number of the latest commit in LMDB's lock table. */
const LATEST_COMMIT_AT = 8

/** A store's file that LMDB has open; detects whether it was removed, replaced or truncated. LMDB never truncates it. */
export class OpenFile {
  readonly #path: string
  readonly #file: number
  readonly #stats: Stats
  readonly #lock: Stats | undefined
  #table: number | undefined
  /** Its size in bytes at the last check. */
  #size: number

  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'r')
    this.#stats = fstatSync(this.#file)
    this.#lock = statOf(`${path}-lock`)
    this.#size = this.#stats.size
  }

  /** Return the state of the file. While it is whole, this takes one system call. */
  state(): FileState {
    const there = statOf(this.#path)
    const current = isSame(there, this.#stats) ? there : fstatSync(this.#file)
    if (current.size < this.#size) return 'cut'
    this.#size = current.size
    return current === there ? 'whole' : 'gone'
  }

  /** Whether the file is still at the path, and was truncated. */
  wasCutAt(path: string): boolean {
    const there = statOf(path)
    return isSame(there, this.#stats) && there.size < this.#size
  }

  /**
   * Whether the lock table at the path belongs to this file, although another file is at the path, which needs a new
   * table.
   */
  hasLockOf(path: string): boolean {
    return isSame(statOf(`${path}-lock`), this.#lock) && !isSame(statOf(path), this.#stats)
  }

  /**
   * Whether the transaction that is being written, by its number, follows the newest commit in the file. LMDB takes the number of
   * the latest commit from its lock table, and every process that opens the file writes there what it has read in the file a
   * moment before (`mdb_env_open2` of lmdb 3.5), also while another process commits. A transaction that begins before the newest
   * commit would replace it. The table is corrected then, and the transaction must not change anything.
   */
  isFollowedBy(transaction: number): boolean {
    const newest = newestCommit(this.#file)
    if (newest < transaction) return true
    // Never closed: that would release all locks that this process has on the table.
    this.#table ??= openSync(`${this.#path}-lock`, 'r+')
    const number = Buffer.alloc(8)
    number.writeBigUInt64LE(BigInt(newest))
    writeSync(this.#table, number, 0, number.length, LATEST_COMMIT_AT)
    return false
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** Return the stat of a path; undefined if it cannot be read. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const isSame = (one: Stats | undefined, other: Stats | undefined): one is Stats =>
  one !== undefined && one.ino === other?.ino && one.dev === other.dev
