/** Work on a few at a time; results in order. After the first that fails nothing is begun, and what runs is waited for. */
export async function eachOf<T, R>(
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
