import { SaltError } from '../../base/errors.ts'
import { encodeNetwork, endOfValue } from '../../codec/index.ts'
import type { Message } from '../stream/contract.ts'

const FIXMAP = 0x80
const HEAD = encodeNetwork('head')
const BODY = encodeNetwork('body')
const BEFORE_HEAD = Buffer.concat([Buffer.of(FIXMAP | 2), HEAD])

/** An empty message, which is no MessagePack value, is sent as a value that Salt sends nowhere else: bytes without a byte. */
const EMPTY = Buffer.of(0xc4, 0)

/** Return the pieces of a frame `{head, body}` (wire protocol §18). The body is not copied. */
export const packFrame = ({ head, body }: Message): [Uint8Array, Uint8Array] => [
  Buffer.concat([BEFORE_HEAD, head, BODY]),
  body.length > 0 ? body : EMPTY,
]

/**
 * Take a frame apart, without decoding its head and body.
 * @throws SaltError DECODE_FAILED if it is not a map with both
 */
export function readFrame(frame: Buffer): Message {
  const first = frame[0] ?? 0
  const entries = (first & 0xf0) === FIXMAP ? first & 0x0f : 0
  let [head, body, at]: [Buffer | undefined, Buffer | undefined, number] = [undefined, undefined, 1]
  for (let entry = 0; entry < entries; entry++) {
    const keyEnd = endOfValue(frame, at)
    const end = endOfValue(frame, keyEnd)
    const key = frame.subarray(at, keyEnd)
    if (key.equals(HEAD)) head = frame.subarray(keyEnd, end)
    else if (key.equals(BODY)) body = frame.subarray(keyEnd, end)
    at = end
  }
  if (!head || !body) throw new SaltError('DECODE_FAILED', 'A frame is not a map with head and body.')
  return { head, body: body.equals(EMPTY) ? Buffer.alloc(0) : body }
}

/** Whether bytes begin as a frame that was packed here. No message of Salt does. */
export const isFrame = (bytes: Buffer): boolean => bytes.subarray(0, BEFORE_HEAD.length).equals(BEFORE_HEAD)
