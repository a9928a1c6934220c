/** MessagePack: any bytes give a value or DECODE_FAILED, and a value survives being encoded and decoded. */
import {
  decode,
  decodeLazily,
  decodeRaw,
  decodeUntrusted,
  encodeLocal,
  encodeNetwork,
  StreamDecoder,
} from '../../../core/codec/index.ts'
import { recordedMessages } from '../recorded.ts'
import { must, outcomeOf, type Target } from '../target.ts'

const seeds = [
  ...recordedMessages('auth', ['request_b64', 'reply_b64']).slice(0, 20),
  ...recordedMessages('events', ['frame_b64']).slice(0, 40),
  ...recordedMessages('generation-3', ['request_b64', 'reply_b64', 'data_b64']).slice(0, 40),
  Buffer.from('81a4646174658d01', 'hex'),
  encodeLocal({
    list: [1, -1, 2n ** 63n, 0.5, true, null, 'é', Buffer.from([0xff])],
    map: new Map([[1, 2]]),
  }),
]

export default (): Target => ({ form: 'message', seeds, run })

function run(input: Buffer): string {
  const outcomes = [
    read(input, (bytes) => expectStable(decode(bytes))),
    read(input, (bytes) => void decodeRaw(bytes)),
    read(input, (bytes) => void decodeUntrusted(bytes)),
    read(input, (bytes) => void Object.entries(decodeLazily(bytes) ?? {})),
    read(input, expectSameStream),
  ]
  return outcomes.join(' ')
}

const read = (input: Buffer, act: (bytes: Buffer) => void): string =>
  outcomeOf(() => void act(input), ['DECODE_FAILED'])

/** Encode the value in both dialects: it must decode to a value that encodes to the same bytes. */
function expectStable(value: unknown): void {
  for (const encode of [encodeLocal, encodeNetwork]) {
    const once = encode(value)
    must(encode(decode(once)).equals(once), 'A value does not survive being encoded and decoded')
  }
  const local = encodeLocal(value)
  must(encodeLocal(decodeLazily(local)).equals(local), 'A value that is decoded lazily is another one')
}

/** Push the bytes in pieces: a stream must give the same values however it is cut. */
function expectSameStream(bytes: Buffer): void {
  const size = 1 + ((bytes[0] ?? 0) % 7)
  const stream = new StreamDecoder(decode)
  const values: unknown[] = []
  for (let at = 0; at < bytes.length; at += size) values.push(...stream.push(bytes.subarray(at, at + size)))
  const whole = new StreamDecoder(decode).push(bytes)
  const same =
    values.length === whole.length &&
    values.every((value, n) => encodeLocal(value).equals(encodeLocal(whole[n])))
  must(same, 'A stream depends on where it is cut')
}
