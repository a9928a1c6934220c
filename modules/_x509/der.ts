/** Read DER, the encoding of certificates: values of a tag, a length and a content. */
import { SaltInvocationError } from 'salt-ts'

export interface Der {
  readonly tag: number
  readonly content: Buffer
  /** With tag and length. */
  readonly raw: Buffer
}

export const TAG = { boolean: 1, integer: 2, bits: 3, octets: 4, oid: 6, sequence: 0x30, set: 0x31 } as const

/** Read the value that `bytes` begin with. @throws SaltInvocationError for one that is cut off */
export function readDer(bytes: Buffer): Der {
  const [tag = 0, first = 0] = bytes
  const more = first & 0x80 ? first & 0x7f : 0
  const start = 2 + more
  const length = more > 0 && more <= 4 && bytes.length >= start ? bytes.readUIntBE(2, more) : first
  if (bytes.length < 2 || (first & 0x80 && (more === 0 || more > 4)) || start + length > bytes.length)
    throw new SaltInvocationError('The DER of this entry is malformed: a value is longer than what is there')
  return { tag, content: bytes.subarray(start, start + length), raw: bytes.subarray(0, start + length) }
}

/** Read the values inside of one. */
export function inside({ content }: Der): Der[] {
  const found: Der[] = []
  for (let at = 0; at < content.length; ) {
    const one = readDer(content.subarray(at))
    found.push(one)
    at += one.raw.length
  }
  return found
}

/** Write an object identifier with dots. */
export function oidText({ content }: Der): string {
  const numbers: number[] = []
  let value = 0
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f)
    if (byte & 0x80) continue
    numbers.push(value)
    value = 0
  }
  const [first = 0, ...rest] = numbers
  const top = Math.min(2, Math.floor(first / 40))
  return [top, first - top * 40, ...rest].join('.')
}

/** Return the text of a string value, whatever its kind. */
export function stringOf({ tag, content }: Der): string {
  const [BMP, UNIVERSAL, LATIN] = [30, 28, 20]
  if (tag === BMP) return Buffer.from(content).swap16().toString('utf16le')
  if (tag === UNIVERSAL)
    return String.fromCodePoint(
      ...Array.from({ length: content.length / 4 }, (_, at) => content.readUInt32BE(at * 4)),
    )
  return content.toString(tag === LATIN ? 'latin1' : 'utf8')
}

/** Return the time of a UTCTime or a GeneralizedTime. */
export function timeOf({ tag, content }: Der): Date {
  const UTC_TIME = 23
  const text = content.toString('latin1')
  const [, year = '', month, day, hour, minute, second = '00'] =
    (tag === UTC_TIME
      ? /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?Z$/
      : /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?Z$/
    ).exec(text) ?? []
  if (month === undefined) throw new SaltInvocationError(`'${text}' is not a time of a certificate`)
  const century = year.length === 4 ? '' : Number(year) < 50 ? '20' : '19'
  return new Date(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

/** Time in UTC, as `2026-01-31 12:00:00`. */
export const timeText = (time: Date): string => time.toISOString().slice(0, 19).replace('T', ' ')

/** Write hexadecimal digits in pairs. */
export function pairs(digits: string): string {
  const even = digits.length % 2 === 0 ? digits : `0${digits}`
  return (even.match(/../g) ?? []).join(':').toUpperCase()
}
