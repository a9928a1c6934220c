import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Clock } from './clock.ts'
import { SaltError } from './errors.ts'

const MICROSECONDS = 1000
const STEP = 100
const jidText = /^\d{20}(?:_[\w-]{1,64})?$/

/**
 * Return a function that makes job ids (wire protocol §13.1): UTC `YYYYMMDDhhmmssffffff`, each greater than the one
 * before even if the clock stands still or goes back. Another process may make the same id at the same time: see
 * `JobCache.reserve`. With the name of a master the last two digits depend on it: masters of a cluster cannot see each other's ids.
 */
export function createJidSource(clock: Clock, master?: string): () => string {
  const step = master === undefined ? 1 : STEP
  const place = master === undefined ? 0 : crc32(master) % STEP
  let last = 0
  return () => {
    // The clock counts whole milliseconds. The other digits are random, so that two processes rarely make the same id.
    const now = Math.floor(clock.now()) * MICROSECONDS + step * randomInt(MICROSECONDS / step) + place
    last = Math.max(now, last + step)
    return jidOf(last)
  }
}

function jidOf(microseconds: number): string {
  const time = new Date(Math.floor(microseconds / MICROSECONDS)).toISOString().replace(/[^\d]/g, '')
  return time + String(microseconds % MICROSECONDS).padStart(3, '0')
}

/** Whether a value is a job id: 20 digits, with or without `_<pid>` (`unique_jid`). */
export function isJid(value: unknown): value is string {
  return typeof value === 'string' && jidText.test(value)
}

/** @throws SaltError INVALID_ARGUMENTS unless it is a job id. */
export function checkJid(jid: string): void {
  if (isJid(jid)) return
  const shown = JSON.stringify(String(jid).slice(0, 60))
  throw new SaltError(
    'INVALID_ARGUMENTS',
    `${shown} is not a job id: it must be 20 digits (YYYYMMDDhhmmssffffff).`,
  )
}

/** Return the time of a job id, to the millisecond. An id whose digits are not a date gives an invalid `Date`. */
export function jidTime(jid: string): Date {
  const part = (from: number, to: number) => jid.slice(from, to)
  const day = `${part(0, 4)}-${part(4, 6)}-${part(6, 8)}`
  return new Date(`${day}T${part(8, 10)}:${part(10, 12)}:${part(12, 14)}.${part(14, 17)}Z`)
}
