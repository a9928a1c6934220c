/** InfluxDB's line protocol. */
import { UnsavableError } from 'salt-ts'

export interface Point {
  readonly measurement: string
  readonly tags: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, string>>
  /** Nanoseconds since 1970. */
  readonly time: bigint
}

/** @throws UnsavableError for a tag that the protocol cannot represent. */
export function lineOf({ measurement, tags, fields, time }: Point): string {
  const tagged = Object.entries(tags).flatMap(([name, value]) =>
    value === '' ? [] : `,${name}=${tagText(name, value)}`,
  )
  const set = Object.entries(fields).map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`)
  return `${measurement}${tagged.join('')} ${set.join(',')} ${time}`
}

/** Escape the value of a tag. The protocol has no escape for a backslash itself. */
function tagText(name: string, value: string): string {
  if (/\n|\\(?:[,= ]|$)/.test(value))
    throw new UnsavableError(
      `InfluxDB cannot store ${JSON.stringify(value)} as ${name}: it has a line break, or a backslash at its end or before a comma, space or equals sign.`,
    )
  return value.replace(/[,= ]/g, '\\$&')
}

/**
 * Return the time of a job id in nanoseconds, so that a rewritten point replaces the earlier one. 0 for an id that is not one of
 * Salt's.
 */
export function timeOf(jid: string): bigint {
  const digits = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{6})/.exec(jid)
  if (!digits) return 0n
  const [year = 0, month = 0, day, hour, minute, second, micros = 0] = digits.slice(1).map(Number)
  return BigInt(Date.UTC(year, month - 1, day, hour, minute, second)) * 1_000_000n + BigInt(micros) * 1000n
}
