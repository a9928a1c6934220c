/** Yield the items of `source`. When `signal` is aborted, end the source and throw the reason. */
export async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const items = source[Symbol.asyncIterator]()
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  aborted.catch(() => {}) // no item may be awaited at that time
  try {
    for (;;) {
      const next = await Promise.race([items.next(), aborted])
      if (next.done) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    items.return?.().catch(() => {}) // a source that waits for its next item ends after that
  }
}
