/** Messages between the proxy and its workers. The first frame of a message is a letter. */

/** Followed by the frames of {@link numberedFrames}. */
export const REQUESTS = 'Q'
export const ANSWERS = 'A'
export const PROBE = 'P'
/**
 * Sent by a worker: it accepts requests from now on. A second frame distinguishes a new process from the previous one of that
 * name.
 */
export const READY = 'R'
/** Sent by a worker: it accepts no more requests. Sent by the proxy: it forwards no more. */
export const LEAVING = 'L'

/** A request or an answer, with the number of the request. */
export interface Numbered {
  readonly id: number
  readonly payload: Uint8Array
}

interface Received {
  readonly id: number
  readonly payload: Buffer
}

/** Bytes before each payload: the number and the length, as unsigned integers of 6 and 4 bytes. */
const HEAD_BYTES = 10

/** Return the frames of requests or answers: number and payload of a single one, which is not copied; one frame of several. */
export function numberedFrames(messages: readonly Numbered[]): (string | Uint8Array)[] {
  const [first, second] = messages
  return first && !second ? [String(first.id), first.payload] : [pack(messages)]
}

/** Read the frames of {@link numberedFrames}. The payloads share their memory. */
export function readNumbered(first: Buffer | undefined, payload: Buffer | undefined): Iterable<Received> {
  if (!first) return []
  return payload ? [{ id: Number(first.toString('latin1')), payload }] : unpack(first)
}

function pack(messages: readonly Numbered[]): Buffer {
  const size = messages.reduce((sum, { payload }) => sum + HEAD_BYTES + payload.length, 0)
  const packed = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const { id, payload } of messages) {
    packed.writeUIntBE(id, at, 6)
    packed.writeUInt32BE(payload.length, at + 6)
    packed.set(payload, at + HEAD_BYTES)
    at += HEAD_BYTES + payload.length
  }
  return packed
}

function* unpack(packed: Buffer): Generator<Received> {
  let at = 0
  while (at + HEAD_BYTES <= packed.length) {
    const id = packed.readUIntBE(at, 6)
    const start = at + HEAD_BYTES
    at = start + packed.readUInt32BE(at + 6)
    yield { id, payload: packed.subarray(start, at) }
  }
}
