import { commitFailed } from './commit-failure.ts'
import { isFull } from './free-space.ts'

/** Interval of attempts to commit on a full disk, since some changes need no further space. */
const RETRY_MS = 10_000

/**
 * Limits commits while the disk is known to be full: LMDB itself writes to standard error about each one that fails, and
 * that cannot be turned off.
 */
export class FullDiskGuard {
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
    this.#until = performance.now() + RETRY_MS
    process.stderr.write('\n') // LMDB's message has no line end
  }
}
