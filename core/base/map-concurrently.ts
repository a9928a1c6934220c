/**
 * Call `work` for each item, at most `atOnce` at a time, and return the results in the order of the items. After a failure
 * no further item is started; rejects with the first error once the running ones have ended.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  atOnce = 8,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  async function take(): Promise<void> {
    while (next < items.length) {
      const index = next++
      results[index] = await work(items[index] as T).catch((error: unknown) => {
        next = items.length
        throw error
      })
    }
  }
  const takers = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, take))
  const failed = takers.find((taker) => taker.status === 'rejected')
  if (failed) throw failed.reason
  return results
}
