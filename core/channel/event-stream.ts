import { hkdfSync, randomBytes } from 'node:crypto'
import { SaltError } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import { decodeUntrusted, encodeNetwork } from '../codec/index.ts'
import { SymmetricKey } from '../crypto/index.ts'
import { asBytes } from '../wire/bytes.ts'
import { readLoad } from '../wire/envelope.ts'

/**
 * The frames of the event stream over TCP (docs/wire-additions.md). A frame is a length of four bytes and that many bytes of content.
 * Two frames are clear: the server's greeting with a nonce, and the client's answer with its id and a proof. All
 * others are encrypted under keys of this connection and direction, and numbered.
 */
const STREAM_VERSION = 1
/** Each side sends a frame at least this often, and disconnects a peer that was silent for `SILENCE_MS`. */
export const HEARTBEAT_MS = 15_000
export const SILENCE_MS = 40_000
/** Time until the first encrypted frame must have arrived. */
export const HANDSHAKE_MS = 5_000
/** Maximum frame size before and after authentication. */
export const MAX_CLEAR_FRAME_BYTES = 1024
export const MAX_FRAME_BYTES = 64 * 1024 * 1024

const NONCE_BYTES = 32
const HEADER_BYTES = 4
const COUNTER_BYTES = 8

export const newStreamNonce = (): Buffer => randomBytes(NONCE_BYTES)

export const packFrame = (payload: Uint8Array): Buffer => {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length)
  frame.writeUInt32BE(payload.length)
  frame.set(payload, HEADER_BYTES)
  return frame
}

/** Cuts a stream into frames. */
export class FrameCutter {
  #chunks: Buffer[] = []
  #size = 0

  #join(): void {
    this.#chunks = [Buffer.concat(this.#chunks)]
  }

  /** @throws SaltError DECODE_FAILED if a frame is longer than `limit`, as soon as its length is read. */
  *push(chunk: Buffer, limit: () => number): Generator<Buffer> {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    while (this.#size >= HEADER_BYTES) {
      if ((this.#chunks[0] as Buffer).length < HEADER_BYTES) this.#join()
      const length = (this.#chunks[0] as Buffer).readUInt32BE()
      if (length > limit())
        throw new SaltError('DECODE_FAILED', `a frame of ${length} bytes is too long for the event stream`)
      if (this.#size < HEADER_BYTES + length) return
      if ((this.#chunks[0] as Buffer).length < HEADER_BYTES + length) this.#join()
      const first = this.#chunks[0] as Buffer
      this.#chunks[0] = first.subarray(HEADER_BYTES + length)
      this.#size -= HEADER_BYTES + length
      yield first.subarray(HEADER_BYTES, HEADER_BYTES + length)
    }
  }
}

export const packGreeting = (nonce: Uint8Array): Buffer =>
  packFrame(encodeNetwork({ event_stream: STREAM_VERSION, nonce: Buffer.from(nonce).toString('hex') }))

/** Read the nonce of a greeting. @throws SaltError DECODE_FAILED if it is not a greeting of this version */
export function readGreeting(payload: Uint8Array): Buffer {
  const greeting = decodeUntrusted(payload)
  const nonce = isRecord(greeting) ? nonceIn(greeting.nonce) : undefined
  if (nonce && isRecord(greeting) && greeting.event_stream === STREAM_VERSION) return nonce
  throw new SaltError(
    'DECODE_FAILED',
    `the port does not serve event stream version ${STREAM_VERSION}; check event_stream_port`,
  )
}

/** `own`: the client's nonce. */
export const packProof = (id: string, session: SymmetricKey, nonce: Uint8Array, own: Uint8Array): Buffer => {
  const proof = { event_stream: Buffer.from(nonce).toString('hex'), own: Buffer.from(own).toString('hex') }
  return packFrame(encodeNetwork({ id, proof: session.encrypt(encodeNetwork(proof)) }))
}

/** Read the client's id and proof; undefined if malformed. Never throws. */
export function readClaim(payload: Uint8Array): { readonly id: string; readonly proof: Buffer } | undefined {
  try {
    const claim = decodeUntrusted(payload)
    const proof = isRecord(claim) ? asBytes(claim.proof) : undefined
    return isRecord(claim) && typeof claim.id === 'string' && proof ? { id: claim.id, proof } : undefined
  } catch {
    return undefined
  }
}

/** Return the client's nonce if the proof was made with the session key for this greeting. */
export function readProof(proof: Uint8Array, session: SymmetricKey, nonce: Buffer): Buffer | undefined {
  const message = session.decrypt(proof)
  const said = message && readLoad(message)
  return said && nonceIn(said.event_stream)?.equals(nonce) ? nonceIn(said.own) : undefined
}

function nonceIn(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || !/^[0-9a-f]{64}$/.test(text)) return undefined
  return Buffer.from(text, 'hex')
}

/** Kinds of encrypted frames. */
export const FRAME_KINDS = {
  /** Sent to the client: an event, encoded as on the bus. */
  event: 1,
  /** Keep-alive without payload. */
  heartbeat: 2,
  /** Sent to the server: the tag prefixes to subscribe to from now on, as a list. */
  want: 3,
  /** Sent to the client: confirms a `want`; matching events follow from now on. */
  granted: 4,
} as const

export interface StreamFrame {
  readonly kind: number
  readonly payload: Buffer
}

/** One direction of a connection. Frames encrypted here must be decrypted in the same order at the other end. */
export class SealedDirection {
  readonly #key: SymmetricKey
  #count = 0n

  constructor(key: SymmetricKey) {
    this.#key = key
  }

  seal(kind: number, payload: Uint8Array = new Uint8Array()): Buffer {
    const plain = Buffer.allocUnsafe(COUNTER_BYTES + 1 + payload.length)
    plain.writeBigUInt64BE(this.#count++)
    plain[COUNTER_BYTES] = kind
    plain.set(payload, COUNTER_BYTES + 1)
    return packFrame(this.#key.encrypt(plain))
  }

  /** Decrypt the next frame. @throws SaltError AUTHENTICATION_FAILED if it is forged, repeated, or out of order */
  open(sealed: Uint8Array): StreamFrame {
    const plain = this.#key.decrypt(sealed)
    if (!plain || plain.length <= COUNTER_BYTES || plain.readBigUInt64BE() !== this.#count)
      throw new SaltError(
        'AUTHENTICATION_FAILED',
        'a frame is out of sequence: it was forged or repeated, or an earlier one is missing',
      )
    this.#count++
    return { kind: plain[COUNTER_BYTES] as number, payload: plain.subarray(COUNTER_BYTES + 1) }
  }
}

/**
 * Derive the keys of a connection from the session key and both nonces, so that no frame of another connection is
 * valid.
 */
export function deriveDirections(session: SymmetricKey, server: Uint8Array, client: Uint8Array) {
  const derive = (to: string) => {
    const bytes = hkdfSync(
      'sha256',
      session.text,
      Buffer.concat([server, client]),
      `event stream to ${to}`,
      56,
    )
    return new SealedDirection(SymmetricKey.parse(Buffer.from(bytes).toString('base64')))
  }
  return { toClient: derive('client'), toServer: derive('server') }
}
