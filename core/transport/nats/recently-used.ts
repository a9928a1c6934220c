const CHECK_MS = 5_000
/** Minimum number of bytes that an entry counts. */
const ENTRY_BYTES = 1_024

interface Entry<T> {
  readonly value: T
  bytes: number
  usedAt: number
}

export interface RecentlyUsedSettings {
  readonly maxEntries: number
  readonly maxBytes: number
  /** How long an entry is kept without being used. */
  readonly idleMs: number
}

/**
 * Entries with a limited use of memory. The least recently used ones are removed when there are too many, and entries that have
 * been idle for long.
 */
export class RecentlyUsed<T> {
  readonly #settings: RecentlyUsedSettings
  /** The most recently used entry is the last one. */
  readonly #entries = new Map<string, Entry<T>>()
  readonly #checking: NodeJS.Timeout
  #bytes = 0

  constructor(settings: RecentlyUsedSettings) {
    this.#settings = settings
    this.#checking = setInterval(() => this.#removeIdle(), CHECK_MS).unref()
  }

  get size(): number {
    return this.#entries.size
  }

  add(key: string, value: T, bytes = 0): void {
    this.delete(key)
    this.#entries.set(key, { value, bytes: 0, usedAt: performance.now() })
    this.grow(key, bytes)
  }

  /** Return an entry, and count this as a use. */
  use(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    entry.usedAt = performance.now()
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Record that an entry has grown, and remove the least recently used ones if there is no room. */
  grow(key: string, bytes: number): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    const added = Math.max(bytes, ENTRY_BYTES)
    entry.bytes += added
    this.#bytes += added
    const { maxBytes, maxEntries } = this.#settings
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= maxBytes && this.#entries.size <= maxEntries) return
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }

  close(): void {
    clearInterval(this.#checking)
    this.#entries.clear()
    this.#bytes = 0
  }

  #removeIdle(): void {
    const oldest = performance.now() - this.#settings.idleMs
    for (const [key, { usedAt }] of this.#entries) if (usedAt < oldest) this.delete(key)
  }
}
