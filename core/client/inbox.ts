const LONGEST_TIMER_MS = 2 ** 31 - 1

/** What several sources tell one reader. */
export class Inbox<T> {
  #items: T[] = []
  #wake: (() => void) | undefined

  push(...items: T[]): void {
    this.#items.push(...items)
    this.#wake?.()
  }

  get size(): number {
    return this.#items.length
  }

  /** Have the reader look up although there is nothing for it. */
  wake(): void {
    this.#wake?.()
  }

  /** All that has come; waits for something up to a moment (milliseconds since 1970). */
  async take(moment: number): Promise<T[]> {
    if (this.#items.length === 0) await this.#news(moment)
    return this.#items.splice(0)
  }

  #news(moment: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve()
      }
      const timer = setTimeout(wake, Math.min(Math.max(0, moment - Date.now()), LONGEST_TIMER_MS))
      this.#wake = wake
    })
  }
}
