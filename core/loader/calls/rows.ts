/** Results of functions that yield rows (`async function*`). */
import { refuseUnencodable } from '../../codec/index.ts'

/** Receives the rows of one call. */
export interface RowSink {
  /** Receive a row; `number` counts from 0. The next row is requested when this resolves. */
  take(row: unknown, number: number): Promise<void>
  /** Called after the last row; the call ends when this resolves. */
  end?(): Promise<void>
}

/** Return the result of a call: for a generator its return value, or all its rows if it returns nothing. */
export async function collectRows(
  result: unknown,
  taker: RowSink | undefined,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (!isGenerator(result)) return result
  const rows: unknown[] = []
  let finished = false
  try {
    for (;;) {
      const { done, value } = await result.next()
      finished = done === true
      if (finished) return value === undefined ? rows : value
      if (taker) {
        refuseUnencodable(value, `rows[${rows.length}]`)
        await taker.take(value, rows.length)
      }
      rows.push(value)
      signal?.throwIfAborted()
    }
  } finally {
    if (!finished) await result.return?.(undefined) // so that its `finally` blocks run
    await taker?.end?.()
  }
}

function isGenerator(value: unknown): value is Iterator<unknown> | AsyncIterator<unknown> {
  return typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function'
}
