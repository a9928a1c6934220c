/** Work that is done at an interval. */
export interface Repetition {
  /** Do it no more. Resolves when the work under way has ended. */
  close(): Promise<void>
}

/**
 * Do work at an interval, never twice at once. `onError` is called with what it rejects with, and it goes on. The timer keeps no process
 * running.
 */
export function repeat(
  work: () => Promise<void>,
  everyMs: number,
  onError: (error: unknown) => void,
): Repetition {
  let underWay: Promise<void> | undefined
  const timer = setInterval(() => {
    underWay ??= work()
      .catch(onError)
      .finally(() => {
        underWay = undefined
      })
  }, everyMs).unref()
  return {
    async close() {
      clearInterval(timer)
      await underWay
    },
  }
}
