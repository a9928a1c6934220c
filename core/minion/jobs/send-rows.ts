import { endsWithin } from '../../base/with-timeout.ts'
import { Encoded, encodeNetwork } from '../../codec/index.ts'
import type { RowSink } from '../../loader/index.ts'

/** A row that a function yielded, as it is sent to the master. */
export interface SentRow {
  /** Index of the row, from 0. */
  readonly number: number
  readonly row: Encoded
}

/** Time that a job waits for a master that does not answer. */
const WAIT_MS = 5_000
/** Number of rows, and of their bytes, that may be queued before the job has to wait. */
const MAX_ROWS = 500
const MAX_BYTES = 1 << 20

/**
 * Send rows in order with `sendAll`. Rows that arrive while a request is pending are sent together in the next one, so that a job
 * does not wait for each row. A job waits only once for a master that does not answer: until it answers, further rows are
 * dropped. The return contains all rows.
 */
export function sendRows(
  sendAll: (rows: readonly SentRow[]) => Promise<unknown>,
  { waitMs = WAIT_MS, maxRows = MAX_ROWS, maxBytes = MAX_BYTES } = {},
): RowSink {
  let waiting: SentRow[] = []
  let bytes = 0
  let sending: Promise<void> | undefined
  let isUnanswered = false

  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const rows = waiting
      waiting = []
      bytes = 0
      await sendAll(rows).catch(() => {})
      isUnanswered = false
    }
    sending = undefined
  }

  async function wait(): Promise<void> {
    if (sending) isUnanswered = !(await endsWithin(sending, waitMs))
  }

  return {
    async take(value, number) {
      if (isUnanswered) return
      const row = new Encoded(encodeNetwork(value))
      waiting.push({ number, row })
      bytes += row.bytes.length
      sending ??= send()
      if (waiting.length >= maxRows || bytes >= maxBytes) await wait()
    },
    async end() {
      if (!isUnanswered) await wait()
    },
  }
}
