import { MAX_TIMER_MS } from '../../base/with-timeout.ts'

/** Suspends one reader until another part of the program wakes it, or a moment has come. */
export class Wakeup {
  #resolve: (() => void) | undefined

  /** Resume the reader, if it is suspended. */
  readonly wake = (): void => this.#resolve?.()

  /** Resolves when {@link wake} is called, or at `moment` (milliseconds since 1970). */
  until(moment: number): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = () => {
        clearTimeout(timer)
        this.#resolve = undefined
        resolve()
      }
      const timer = setTimeout(this.#resolve, Math.min(Math.max(0, moment - Date.now()), MAX_TIMER_MS))
    })
  }
}
