import { SaltError } from '../base/errors.ts'
import { decodeRaw, encodeLocal, StreamDecoder } from '../codec/index.ts'

export interface Frame {
  readonly body: Uint8Array
  /** Who pushed it wants to hear that it went out to the readers: a byte comes back. Nobody but a master's worker asks. */
  readonly confirm: boolean
}

/** A body as it stands in the stream: `{head, body}` (wire protocol §11). */
export const packFrame = (body: Uint8Array, confirm = false): Buffer =>
  encodeLocal({ head: confirm ? { confirm } : {}, body })

/** Cuts a stream into frames. What else a head says is ignored. */
export class FrameReader {
  readonly #decoder = new StreamDecoder(decodeRaw)

  /** @throws SaltError DECODE_FAILED; nothing more can be made of the stream then. */
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
