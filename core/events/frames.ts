import { SaltError } from '../base/errors.ts'
import { decodeRaw, encodeLocal, StreamDecoder } from '../codec/index.ts'

/** A body as it stands in the stream: `{head, body}` (wire protocol §11). */
export const packFrame = (body: Uint8Array): Buffer => encodeLocal({ head: {}, body })

/** Cuts a stream of frames into bodies. What a head says is ignored. */
export class FrameReader {
  readonly #decoder = new StreamDecoder(decodeRaw)

  /** @throws SaltError DECODE_FAILED; nothing more can be made of the stream then. */
  push(chunk: Uint8Array): Uint8Array[] {
    return this.#decoder.push(chunk).map((frame) => {
      const body = frame instanceof Map ? frame.get('body') : (frame as { body?: unknown } | null)?.body
      if (body instanceof Uint8Array) return body
      throw new SaltError('DECODE_FAILED', 'A frame on the event socket has no body.')
    })
  }
}
