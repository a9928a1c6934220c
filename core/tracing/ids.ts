import { createHash } from 'node:crypto'

/** Number of digits of a job id that are its time. A suffix may identify a process (`unique_jid`). */
const DIGITS = 20
const NOTHING = '0'.repeat(16)

/**
 * Return the trace id of a job: its jid, padded with zeros to 32 hexadecimal digits, so that users can derive one from the
 * other.
 */
export const traceIdOf = (jid: string): string => jid.slice(0, DIGITS).padStart(32, '0')

/**
 * Return the id of a span: 16 hexadecimal digits, never all zero. Every process computes the same id, so a span can name its parent
 * although Salt's messages carry no trace context.
 */
export function spanIdOf(jid: string, part: string): string {
  const id = createHash('sha256').update(`${jid}/${part}`).digest('hex').slice(0, NOTHING.length)
  return id === NOTHING ? `${NOTHING.slice(1)}1` : id
}
