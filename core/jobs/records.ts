import { SaltError } from '../base/errors.ts'
import type { Value } from '../codec/index.ts'
import { isJid } from './jid.ts'

/** A stored map, as a plain object. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: Value | undefined): value is { [key: string]: Value } {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
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
