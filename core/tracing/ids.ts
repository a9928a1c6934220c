import { createHash } from 'node:crypto'

/** Digits of a job id that tell when it was given; what may follow names a process (`unique_jid`). */
const DIGITS = 20
const NOTHING = '0'.repeat(16)

/** The trace of a job: its id, filled up with zeros to 32 hexadecimal digits, so that people find one by the other. */
export const traceIdOf = (jid: string): string => jid.slice(0, DIGITS).padStart(32, '0')

/**
 * The id of what a part does for a job, the same in every process that works it out: so a span names its parent though
 * nothing of a trace travels over Salt's wire. 16 hexadecimal digits, never all zero.
 */
export function spanIdOf(jid: string, part: string): string {
  const id = createHash('sha256').update(`${jid}/${part}`).digest('hex').slice(0, NOTHING.length)
  return id === NOTHING ? `${NOTHING.slice(1)}1` : id
}
