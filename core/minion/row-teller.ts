import { setTimeout as delay } from 'node:timers/promises'
import type { OnRow } from '../loader/index.ts'

/** A row waits so long for a master that does not answer. Milliseconds. */
const ROW_MS = 5_000

/**
 * Tells rows one after the other. A master that is away holds the job up once, not for each row: until it has answered,
 * rows are told to nobody; the return has them all.
 */
export function tellRows(tell: (row: unknown, number: number) => Promise<unknown>, ms = ROW_MS): OnRow {
  let unanswered = false
  return async (row, number) => {
    if (unanswered) return
    unanswered = true
    const answered = new AbortController()
    const told = tell(row, number)
      .catch(() => {})
      .finally(() => {
        unanswered = false
        answered.abort()
      })
    const late = delay(ms, undefined, { ref: false, signal: answered.signal }).catch(() => {})
    await Promise.race([told, late])
  }
}
