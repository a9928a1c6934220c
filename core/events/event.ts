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
const NEWLINE = 10

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
export const decodeEvent = (body: Uint8Array): Event => readEvent(body).event()

/** The tag alone, to see whether the rest is worth decoding. @throws SaltError DECODE_FAILED */
export const tagOf = (body: Uint8Array): string => readEvent(body).tag

/** The tag, and what decodes the rest where it is worth it. Both @throws SaltError DECODE_FAILED */
export function readEvent(body: Uint8Array): { readonly tag: string; event(): Event } {
  const end = endOfTag(body)
  if (end < 1) throw new SaltError('DECODE_FAILED', 'An event has no tag.')
  const tag = Buffer.from(body.buffer, body.byteOffset, end).toString()
  return { tag, event: () => eventOf(tag, decode(body.subarray(end + SEPARATOR.length))) }
}

function eventOf(tag: string, value: unknown): Event {
  if (value instanceof Map) return { tag, data: Object.fromEntries(value) }
  if (isPlainObject(value)) return { tag, data: value }
  throw new SaltError('DECODE_FAILED', `The data of the event ${tag} is not a map.`, { tag })
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Index of the first empty line, -1 if there is none. Tags are short: a loop is faster than a search of the buffer. */
function endOfTag(body: Uint8Array): number {
  for (let at = 0; at + 1 < body.length; at++) if (body[at] === NEWLINE && body[at + 1] === NEWLINE) return at
  return -1
}

/** UTC, ISO 8601 without zone, six fraction digits, none if exactly zero (as Python writes it). */
export function stamp(now: Date): string {
  const [seconds = '', fraction] = now.toISOString().slice(0, -1).split('.')
  return fraction === '000' ? seconds : `${seconds}.${fraction}000`
}
