/** What a function gives that yields its result in rows (`async function*`). */
import { refuseUnencodable } from '../codec/index.ts'

/** Takes the rows of one call as they come. */
export interface RowTaker {
  /** `number`: from 0. The next row is asked for when this resolves. */
  take(row: unknown, number: number): Promise<void>
  /** Called after the last row; the call ends when this resolves. */
  end?(): Promise<void>
}

/** The value of a call: what a generator returns, or all its rows if it returns nothing; else the result as it is. */
export async function collectRows(
  result: unknown,
  taker: RowTaker | undefined,
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
    if (!finished) await result.return?.(undefined) // it may have something to clean up
    await taker?.end?.()
  }
}

function isGenerator(value: unknown): value is Iterator<unknown> | AsyncIterator<unknown> {
  return typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function'
}
