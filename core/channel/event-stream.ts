import { hkdfSync, randomBytes } from 'node:crypto'
import { SaltError } from '../base/errors.ts'
import { decodeUntrusted, encodeNetwork } from '../codec/index.ts'
import { SymmetricKey } from '../crypto/index.ts'
import { asBytes, isRecord } from '../wire/bytes.ts'
import { readLoad } from '../wire/envelope.ts'

/**
 * The event stream over TCP (README): how its messages look. Frames are a length of four bytes and so many bytes. Two of
 * them are open: the server's greeting with a nonce, and the client's answer with its id and a proof. All others are
 * sealed under keys of this connection and direction, and counted.
 */
const STREAM_VERSION = 1
/** Both sides say something at least so often, and take the other for gone after the second time. Milliseconds. */
export const HEARTBEAT_MS = 15_000
export const SILENCE_MS = 40_000
/** Until the first sealed frame has come. Milliseconds. */
export const HANDSHAKE_MS = 5_000
/** Bytes of a frame of somebody who has not proved anything, and of one who has. */
export const MAX_OPEN_FRAME = 1024
export const MAX_FRAME = 64 * 1024 * 1024

const NONCE_BYTES = 32
const HEADER = 4
const COUNTER = 8

export const newStreamNonce = (): Buffer => randomBytes(NONCE_BYTES)

export const packOpen = (payload: Uint8Array): Buffer => {
  const frame = Buffer.allocUnsafe(HEADER + payload.length)
  frame.writeUInt32BE(payload.length)
  frame.set(payload, HEADER)
  return frame
}

/** Cuts a stream into frames. */
export class FrameCutter {
  #chunks: Buffer[] = []
  #size = 0

  #join(): void {
    this.#chunks = [Buffer.concat(this.#chunks)]
  }

  /** @throws SaltError DECODE_FAILED if a frame is longer than `limit`, as soon as it says so. */
  *push(chunk: Buffer, limit: () => number): Generator<Buffer> {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    while (this.#size >= HEADER) {
      if ((this.#chunks[0] as Buffer).length < HEADER) this.#join()
      const length = (this.#chunks[0] as Buffer).readUInt32BE()
      if (length > limit())
        throw new SaltError('DECODE_FAILED', `a frame of ${length} bytes is too long for the event stream`)
      if (this.#size < HEADER + length) return
      if ((this.#chunks[0] as Buffer).length < HEADER + length) this.#join()
      const first = this.#chunks[0] as Buffer
      this.#chunks[0] = first.subarray(HEADER + length)
      this.#size -= HEADER + length
      yield first.subarray(HEADER, HEADER + length)
    }
  }
}

export const packGreeting = (nonce: Uint8Array): Buffer =>
  packOpen(encodeNetwork({ event_stream: STREAM_VERSION, nonce: Buffer.from(nonce).toString('hex') }))

/** The nonce. @throws SaltError DECODE_FAILED if it is none of this version */
export function readGreeting(payload: Uint8Array): Buffer {
  const greeting = decodeUntrusted(payload)
  const nonce = isRecord(greeting) ? nonceIn(greeting.nonce) : undefined
  if (nonce && isRecord(greeting) && greeting.event_stream === STREAM_VERSION) return nonce
  throw new SaltError('DECODE_FAILED', 'what listens there is no event stream of this version')
}

/** `own`: the client's nonce. */
export const packProof = (id: string, session: SymmetricKey, nonce: Uint8Array, own: Uint8Array): Buffer => {
  const proof = { event_stream: Buffer.from(nonce).toString('hex'), own: Buffer.from(own).toString('hex') }
  return packOpen(encodeNetwork({ id, proof: session.encrypt(encodeNetwork(proof)) }))
}

/** Undefined if it is none. Never throws. */
export function readClaim(payload: Uint8Array): { readonly id: string; readonly proof: Buffer } | undefined {
  try {
    const claim = decodeUntrusted(payload)
    const proof = isRecord(claim) ? asBytes(claim.proof) : undefined
    return isRecord(claim) && typeof claim.id === 'string' && proof ? { id: claim.id, proof } : undefined
  } catch {
    return undefined
  }
}

/** The client's nonce, if the proof was made with the session key for this greeting. */
export function readProof(proof: Uint8Array, session: SymmetricKey, nonce: Buffer): Buffer | undefined {
  const message = session.decrypt(proof)
  const said = message && readLoad(message)
  return said && nonceIn(said.event_stream)?.equals(nonce) ? nonceIn(said.own) : undefined
}

function nonceIn(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || !/^[0-9a-f]{64}$/.test(text)) return undefined
  return Buffer.from(text, 'hex')
}

/** What a sealed frame is about. */
export const kinds = {
  /** To the client: an event, as it stands on the bus. */
  event: 1,
  /** Alive; no payload. */
  heartbeat: 2,
  /** To the server: which events are wanted from now on, a list of what their tags begin with. */
  want: 3,
  /** To the client: they come from now on; to a `want`, with its number of these. */
  granted: 4,
} as const

export interface Message {
  readonly kind: number
  readonly payload: Buffer
}

/** One direction of a connection: what is sealed here is opened there in the same order, and nothing else is. */
export class SealedDirection {
  readonly #key: SymmetricKey
  #count = 0n

  constructor(key: SymmetricKey) {
    this.#key = key
  }

  seal(kind: number, payload: Uint8Array = new Uint8Array()): Buffer {
    const plain = Buffer.allocUnsafe(COUNTER + 1 + payload.length)
    plain.writeBigUInt64BE(this.#count++)
    plain[COUNTER] = kind
    plain.set(payload, COUNTER + 1)
    return packOpen(this.#key.encrypt(plain))
  }

  /** @throws SaltError AUTHENTICATION_FAILED for what is forged, repeated, or not the next one. */
  open(sealed: Uint8Array): Message {
    const plain = this.#key.decrypt(sealed)
    if (!plain || plain.length <= COUNTER || plain.readBigUInt64BE() !== this.#count)
      throw new SaltError(
        'AUTHENTICATION_FAILED',
        'a frame of the event stream is not the next one of the other side: it was forged, repeated, or left out',
      )
    this.#count++
    return { kind: plain[COUNTER] as number, payload: plain.subarray(COUNTER + 1) }
  }
}

/** The keys of a connection: those of the session with both nonces, so that nothing of another one fits. */
export function directionsOf(session: SymmetricKey, server: Uint8Array, client: Uint8Array) {
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
