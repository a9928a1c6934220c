import { SaltError } from '../base/errors.ts'
import { decodeRaw, encodeLocal, StreamDecoder } from '../codec/index.ts'

export interface Frame {
  readonly body: Uint8Array
  /** The pusher requests one byte as confirmation that the frame was sent to the readers. Only workers of a master do. */
  readonly confirm: boolean
}

/** Encode a frame of the stream: `{head, body}` (wire protocol §11). */
export const packFrame = (body: Uint8Array, confirm = false): Buffer =>
  encodeLocal({ head: confirm ? { confirm } : {}, body })

/** Splits a stream into frames. Other fields of a head are ignored. */
export class FrameReader {
  readonly #decoder = new StreamDecoder(decodeRaw)

  /** Return the frames that a chunk completes. @throws SaltError DECODE_FAILED; the stream is unusable then. */
  push(chunk: Uint8Array): Frame[] {
    return this.#decoder.push(chunk).map((frame) => {
      const body = member(frame, 'body')
      if (body instanceof Uint8Array)
        return { body, confirm: member(member(frame, 'head'), 'confirm') === true }
      throw new SaltError('DECODE_FAILED', 'A frame on the event socket has no body.')
    })
  }
}

const member = (map: unknown, key: string): unknown =>
  map instanceof Map ? map.get(key) : (map as Record<string, unknown> | null | undefined)?.[key]
