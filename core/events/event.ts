import { SaltError } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { decode } from '../codec/index.ts'
import { packTrimmed } from './trim.ts'

/** An event with the tag by which listeners select it (wire protocol §12). */
export interface Event {
  readonly tag: string
  readonly data: Record<string, unknown>
}

/** Salt's `max_event_size`, bytes. */
const DEFAULT_MAX_EVENT_SIZE = 1_048_576

const SEPARATOR = Buffer.from('\n\n')
const NEWLINE = 10

/**
 * Encode the body of an event (wire protocol §11): tag, empty line, MessagePack of the data with `_stamp`.
 * Values that are too large for `maxEventSize` bytes are replaced by `VALUE_TRIMMED`.
 * @throws SaltError ENCODE_FAILED if the tag is empty or contains an empty line.
 */
export function encodeEvent(
  tag: string,
  data: object,
  now: Date = new Date(),
  maxEventSize: number = DEFAULT_MAX_EVENT_SIZE,
): Buffer {
  if (tag === '' || tag.includes('\n\n')) {
    throw new SaltError(
      'ENCODE_FAILED',
      `The tag ${JSON.stringify(tag)} is not valid: it is empty or contains an empty line.`,
      { tag },
    )
  }
  return Buffer.concat([
    Buffer.from(tag),
    SEPARATOR,
    packTrimmed({ ...data, _stamp: stamp(now) }, maxEventSize),
  ])
}

/** Decode a body. @throws SaltError DECODE_FAILED */
export const decodeEvent = (body: Uint8Array): Event => readEvent(body).event()

/** Return only the tag of a body, without decoding the data. @throws SaltError DECODE_FAILED */
export const tagOf = (body: Uint8Array): string => readEvent(body).tag

/** Read the tag of a body, and return a function that decodes the event. Both throw SaltError DECODE_FAILED. */
export function readEvent(body: Uint8Array): { readonly tag: string; event(): Event } {
  const end = endOfTag(body)
  if (end < 1) throw new SaltError('DECODE_FAILED', 'An event has no tag.')
  const tag = Buffer.from(body.buffer, body.byteOffset, end).toString()
  return { tag, event: () => eventOf(tag, decode(body.subarray(end + SEPARATOR.length))) }
}

function eventOf(tag: string, value: unknown): Event {
  if (value instanceof Map) return { tag, data: Object.fromEntries(value) }
  if (isRecord(value)) return { tag, data: value }
  throw new SaltError('DECODE_FAILED', `The data of the event ${tag} is not a map.`, { tag })
}

/** Return the index of the first empty line, -1 if there is none. Tags are short, so a loop is faster than `Buffer.indexOf`. */
function endOfTag(body: Uint8Array): number {
  for (let at = 0; at + 1 < body.length; at++) if (body[at] === NEWLINE && body[at + 1] === NEWLINE) return at
  return -1
}

/** Format a time as Python does: UTC, ISO 8601 without a zone, six fraction digits, none if the fraction is zero. */
export function stamp(now: Date): string {
  const [seconds = '', fraction] = now.toISOString().slice(0, -1).split('.')
  return fraction === '000' ? seconds : `${seconds}.${fraction}000`
}
