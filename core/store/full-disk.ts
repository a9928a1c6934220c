import { commitFailed } from './commit-failure.ts'
import { isFull } from './room.ts'

/** What is in the file may still be changed on a full disk: that is tried so often. Milliseconds. */
const TRY_MS = 10_000

/**
 * Of each commit that finds no room LMDB itself writes to standard error, where nobody can stop it: on a disk that is known to be
 * full few are tried.
 */
export class FullDisk {
  readonly #path: string
  #until = 0

  constructor(path: string) {
    this.#path = path
  }

  /** @throws SaltError STORE_FAILED while the disk is full */
  refuse(): void {
    if (performance.now() >= this.#until) return
    if (isFull(this.#path)) throw commitFailed(this.#path, 'the disk is full')
    this.#until = 0
  }

  failed(): void {
    if (!isFull(this.#path)) return
    this.#until = performance.now() + TRY_MS
    process.stderr.write('\n') // what LMDB writes has no end of line
  }
}
