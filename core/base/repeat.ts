/** Work that is done at an interval. */
export interface Repetition {
  /** Stop the repetition. Resolves when the running work has ended. */
  close(): Promise<void>
}

/**
 * Do work at an interval, never twice at once. If it rejects, `onError` is called, and the repetition continues. The timer does
 * not keep the process running.
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
