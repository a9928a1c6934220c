import { randomInt } from 'node:crypto'
import type { Clock } from '../base/clock.ts'

const MICROSECONDS = 1000
const jidText = /^\d{20}(?:_[\w-]{1,64})?$/

/**
 * Gives new job ids (wire protocol §13.1): UTC `YYYYMMDDhhmmssffffff`, each greater than the one before even if the
 * clock stands still or goes back. Other processes may draw the same id at the same time: see `JobCache.reserve`.
 */
export function createJidSource(clock: Clock): () => string {
  let last = 0
  return () => {
    last = Math.max(microsecondsOf(clock), last + 1)
    return jidOf(last)
  }
}

/** Clocks count whole milliseconds; the digits below are drawn, so that two processes seldom meet. */
function microsecondsOf(clock: Clock): number {
  return Math.floor(clock.now()) * MICROSECONDS + randomInt(MICROSECONDS)
}

function jidOf(microseconds: number): string {
  const time = new Date(Math.floor(microseconds / MICROSECONDS)).toISOString().replace(/[^\d]/g, '')
  return time + String(microseconds % MICROSECONDS).padStart(3, '0')
}

/** True for 20 digits, with `_<pid>` (`unique_jid`) or without. */
export function isJid(value: unknown): value is string {
  return typeof value === 'string' && jidText.test(value)
}

/** The time a job id stands for, to the millisecond. An id that no clock gave may stand for an invalid date. */
export function jidTime(jid: string): Date {
  const part = (from: number, to: number) => jid.slice(from, to)
  const day = `${part(0, 4)}-${part(4, 6)}-${part(6, 8)}`
  return new Date(`${day}T${part(8, 10)}:${part(10, 12)}:${part(12, 14)}.${part(14, 17)}Z`)
}
