import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'
import { MAX_MESSAGE_BYTES } from '../../wire/message-size.ts'

/**
 * Messages that are larger than the limit of a NATS server (`max_payload`, by default 1 MiB) are sent in pieces. The first piece
 * of a request or an answer contains the total length and the subject of the next request, which either carries the next piece or
 * asks for it. Since each piece is requested, none is queued anywhere. Pieces of publications are sent one after another.
 */

/** Bytes of the whole message, in the first piece. */
const LENGTH = 'Salt-Length'
/** The subject of the next request of an exchange. */
const NEXT = 'Salt-Next'
/** Publisher, number of the publication, and number of the piece. */
const PIECE = 'Salt-Piece'

/** Bytes left for the headers of a message. */
const HEADER_BYTES = 512

/** Return how many bytes a piece has at most. */
export const pieceSize = ({ info }: NatsConnection): number =>
  Math.max(1, (info?.max_payload ?? 1_048_576) - HEADER_BYTES)

interface PieceHeaders {
  readonly length?: number | undefined
  readonly next?: string | undefined
  readonly piece?: string | undefined
}

export function pieceHeaders({ length, next, piece }: PieceHeaders): { headers?: MsgHdrs } {
  if (length === undefined && next === undefined && piece === undefined) return {}
  const made = headers()
  if (length !== undefined) made.set(LENGTH, String(length))
  if (next !== undefined) made.set(NEXT, next)
  if (piece !== undefined) made.set(PIECE, piece)
  return { headers: made }
}

export function readPieceHeaders(given: MsgHdrs | undefined): PieceHeaders {
  if (!given) return {}
  const length = Number(given.get(LENGTH) || Number.NaN)
  return {
    length: Number.isSafeInteger(length) && length >= 0 ? length : undefined,
    next: given.get(NEXT) || undefined,
    piece: given.get(PIECE) || undefined,
  }
}

/** Return the bytes of a message without copying them. */
export const bytesOf = ({ data }: { readonly data: Uint8Array }): Buffer =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength)

/**
 * Return the bytes of a piece that is kept. They are copied if the buffer holds more other data, such as headers, than the piece
 * itself.
 */
export const pieceIn = ({ data }: { readonly data: Uint8Array }): Buffer =>
  2 * data.byteLength < data.buffer.byteLength ? Buffer.from(data) : bytesOf({ data })

/** A message whose pieces arrive in order. */
export class Assembly {
  readonly length: number
  readonly #pieces: Buffer[] = []
  #received = 0

  constructor(length: number) {
    this.length = length
  }

  /** Add a piece. Returns false if it is empty, the message would become longer than announced, or is longer than messages of Salt are. */
  add(piece: Buffer): boolean {
    if (piece.length === 0) return false
    this.#received += piece.length
    if (this.#received > this.length || this.length > MAX_MESSAGE_BYTES) return false
    this.#pieces.push(piece)
    return true
  }

  get received(): number {
    return this.#received
  }

  /** The whole message once it is complete. */
  get whole(): Buffer | undefined {
    return this.#received === this.length ? Buffer.concat(this.#pieces) : undefined
  }
}
