import { SaltError } from '../base/errors.ts'
import { decode } from '../codec/index.ts'
import { trimmed } from './trim.ts'

/** Something that happened, under a name that listeners choose by (wire protocol §12). */
export interface Event {
  readonly tag: string
  readonly data: Record<string, unknown>
}

/** Salt's `max_event_size`, bytes. */
const DEFAULT_MAX_EVENT_SIZE = 1_048_576

const SEPARATOR = Buffer.from('\n\n')

/**
 * The body of an event as it travels (wire protocol §11): tag, empty line, MessagePack of the data with `_stamp`.
 * Values that are too large for `maxEventSize` bytes are replaced by `VALUE_TRIMMED`.
 * @throws SaltError ENCODE_FAILED if the tag is empty or has an empty line in it.
 */
export function encodeEvent(
  tag: string,
  data: object,
  now: Date = new Date(),
  maxEventSize: number = DEFAULT_MAX_EVENT_SIZE,
): Buffer {
  if (tag === '' || tag.includes('\n\n')) {
    throw new SaltError('ENCODE_FAILED', `An event cannot have the tag ${JSON.stringify(tag)}.`, { tag })
  }
  return Buffer.concat([Buffer.from(tag), SEPARATOR, trimmed({ ...data, _stamp: stamp(now) }, maxEventSize)])
}

/** @throws SaltError DECODE_FAILED */
export function decodeEvent(body: Uint8Array): Event {
  const [tag, data] = splitBody(body)
  const value = decode(data)
  if (value instanceof Map) return { tag, data: Object.fromEntries(value) }
  if (isPlainObject(value)) return { tag, data: value }
  throw new SaltError('DECODE_FAILED', `The data of the event ${tag} is not a map.`, { tag })
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** The tag alone, to see whether the rest is worth decoding. @throws SaltError DECODE_FAILED */
export const tagOf = (body: Uint8Array): string => splitBody(body)[0]

function splitBody(body: Uint8Array): [tag: string, data: Buffer] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const end = bytes.indexOf(SEPARATOR)
  if (end < 1) throw new SaltError('DECODE_FAILED', 'An event has no tag.')
  return [bytes.toString('utf8', 0, end), bytes.subarray(end + SEPARATOR.length)]
}

/** UTC, ISO 8601 without zone, six fraction digits, none if exactly zero (as Python writes it). */
export function stamp(now: Date): string {
  const [seconds = '', fraction] = now.toISOString().slice(0, -1).split('.')
  return fraction === '000' ? seconds : `${seconds}.${fraction}000`
}
