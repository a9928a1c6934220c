import { setTimeout as delay } from 'node:timers/promises'
import { Encoded, encodeNetwork } from '../codec/index.ts'
import type { RowTaker } from '../loader/index.ts'

/** A row that a function yielded, as it goes to the master. */
export interface ToldRow {
  /** From 0. */
  readonly number: number
  readonly row: Encoded
}

/** A job waits so long for a master that does not answer. Milliseconds. */
const WAIT_MS = 5_000
/** Rows, and bytes of rows, that may wait before the job has to. */
const MOST_ROWS = 500
const MOST_BYTES = 1 << 20

/**
 * Tells rows in their order. What comes while an answer is awaited goes together with the next request, so that a job is
 * not held up by each row. A master that is away holds it up once: until it has answered, further rows are told to nobody;
 * the return has them all.
 */
export function tellRows(
  tell: (rows: readonly ToldRow[]) => Promise<unknown>,
  { waitMs = WAIT_MS, mostRows = MOST_ROWS, mostBytes = MOST_BYTES } = {},
): RowTaker {
  let waiting: ToldRow[] = []
  let bytes = 0
  let sending: Promise<void> | undefined
  let away = false

  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const rows = waiting
      waiting = []
      bytes = 0
      await tell(rows).catch(() => {})
      away = false
    }
    sending = undefined
  }

  async function wait(): Promise<void> {
    const answered = new AbortController()
    const late = delay(waitMs, true, { ref: false, signal: answered.signal }).catch(() => false)
    away = (await Promise.race([sending, late])) === true
    answered.abort()
  }

  return {
    async take(value, number) {
      if (away) return
      const row = new Encoded(encodeNetwork(value))
      waiting.push({ number, row })
      bytes += row.bytes.length
      sending ??= send()
      if (waiting.length >= mostRows || bytes >= mostBytes) await wait()
    },
    async end() {
      if (!away) await wait()
    },
  }
}
