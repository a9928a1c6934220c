import type { Parent } from '../../process/parent.ts'
import type { FromChild } from './messages.ts'

/** Time in which reports are combined. */
const COMBINED_MS = 10

/** Return a function that reports records in an outbox to the supervisor, once for all calls within a short time. */
export function queuedReport(supervisor: Pick<Parent<FromChild>, 'send'>): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      void supervisor.send({ type: 'queued' })
    }, COMBINED_MS)
  }
}
