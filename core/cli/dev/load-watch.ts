/** Notices files that take long to load in another process, which may be blocked by them. */
export class LoadWatch {
  readonly #ms: number
  readonly #onLong: (file: string) => void
  /** The files that are being loaded, and how often at once: each minion loads them. */
  readonly #loading = new Map<string, { count: number; readonly timer: NodeJS.Timeout }>()
  readonly #long = new Set<string>()

  constructor(ms: number, onLong: (file: string) => void) {
    this.#ms = ms
    this.#onLong = onLong
  }

  /** Whether a file is being loaded that takes long. */
  get isLong(): boolean {
    return this.#long.size > 0
  }

  /** A file begins to be loaded, or has been. */
  note(file: string, isLoading: boolean): void {
    const known = this.#loading.get(file)
    if (known && isLoading) known.count++
    else if (isLoading)
      this.#loading.set(file, { count: 1, timer: setTimeout(() => this.#report(file), this.#ms).unref() })
    else if (known && --known.count === 0) this.#forget(file, known.timer)
  }

  /** Forget all files: the process has ended. */
  clear(): void {
    for (const [file, { timer }] of this.#loading) this.#forget(file, timer)
  }

  #report(file: string): void {
    this.#long.add(file)
    this.#onLong(file)
  }

  #forget(file: string, timer: NodeJS.Timeout): void {
    clearTimeout(timer)
    this.#loading.delete(file)
    this.#long.delete(file)
  }
}
