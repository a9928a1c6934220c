/**
 * Do work at an interval, never twice at once. `onError` is called with what it rejects with, and it goes on. Resolves on `close`
 * when the work under way has ended. The timer keeps no process running.
 */
export function repeat(
  work: () => Promise<void>,
  everyMs: number,
  onError: (error: unknown) => void,
): { close(): Promise<void> } {
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
