/** What a function gives that yields its result in rows (`async function*`). */
import { refuseUnencodable } from '../codec/index.ts'

/** Is given each row as it comes, with its number from 0; the next is asked for when this resolves. */
export type OnRow = (row: unknown, number: number) => Promise<void>

/** The value of a call: what a generator returns, or all its rows if it returns nothing; else the result as it is. */
export async function collectRows(
  result: unknown,
  onRow: OnRow | undefined,
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
      if (onRow) {
        refuseUnencodable(value, `rows[${rows.length}]`)
        await onRow(value, rows.length)
      }
      rows.push(value)
      signal?.throwIfAborted()
    }
  } finally {
    if (!finished) await result.return?.(undefined) // it may have something to clean up
  }
}

function isGenerator(value: unknown): value is Iterator<unknown> | AsyncIterator<unknown> {
  return typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function'
}
