import { isRecord } from '../base/record.ts'
import { decode, decodeUntrusted, encodeNetwork } from '../codec/index.ts'
import {
  type EncryptionAlgorithm,
  isEncryptionAlgorithm,
  isSigningAlgorithm,
  type SigningAlgorithm,
} from '../crypto/index.ts'
import { asBytes, asNumber } from './bytes.ts'
import { type ClaimedVia, readVia, type Via } from './via.ts'

/** Protocol generations: the `version` of an envelope (wire protocol §5, §18). */
export const GENERATION_2 = 2
export const GENERATION_3 = 3

/** Largest clear message, since unauthenticated peers can send these. Only `publish` may be larger. */
const MAX_CLEAR_BYTES = 64 * 1024

/** The algorithms that a peer requests; SHA-1 where the names are absent. */
export interface Algorithms {
  readonly encryption: EncryptionAlgorithm
  readonly signing: SigningAlgorithm
}

export interface ClearEnvelope {
  readonly enc: 'clear'
  readonly version: number
  readonly load: Record<string, unknown>
  readonly via: ClaimedVia | undefined
}

export interface AesEnvelope {
  readonly enc: 'aes'
  readonly version: number
  readonly load: Buffer
  /** The id of the minion whose session key decrypts the load; sent from generation 3 on. */
  readonly id: unknown
  /** Undefined if a name is unknown. */
  readonly algorithms: Algorithms | undefined
}

/**
 * An envelope that could not be read. `reply` is the answer to the sender (wire protocol §5), `reason` is for the log.
 */
export interface Unreadable {
  readonly enc: 'unreadable'
  readonly reply: unknown
  readonly reason: string
}

/** Answers of Salt's masters to malformed requests (wire protocol §5). */
export const refusals = {
  notMessagePack: { msg: 'bad load' },
  badLoad: 'bad load',
  notMaps: 'payload and load must be a dict',
  nullInId: 'bad load: id contains a null byte',
  exception: 'Some exception handling minion payload',
} as const

/** Pack the envelope of an unencrypted request. */
export function packClear(
  load: Readonly<Record<string, unknown>>,
  version = GENERATION_3,
  via?: Via,
): Buffer {
  return encodeNetwork({ enc: 'clear', load, version, ...(via && { via }) })
}

/** Pack the envelope of an encrypted request. `id` and algorithms are sent in generation 3 only. */
export function packAes(message: {
  load: Uint8Array
  version: number
  id: string
  algorithms: Algorithms
}): Buffer {
  const { load, version, id, algorithms } = message
  if (version < GENERATION_3) return encodeNetwork({ enc: 'aes', load, version })
  return encodeNetwork({
    enc: 'aes',
    load,
    version,
    id,
    enc_algo: algorithms.encryption,
    sig_algo: algorithms.signing,
  })
}

const unreadable = (reply: unknown, reason: string): Unreadable => ({ enc: 'unreadable', reply, reason })

/** Read the algorithm names of an envelope or sign-in load; undefined if one is unknown. */
export function readAlgorithms(from: Readonly<Record<string, unknown>>): Algorithms | undefined {
  const encryption = from.enc_algo ?? 'OAEP-SHA1'
  const signing = from.sig_algo ?? 'PKCS1v15-SHA1'
  if (!isEncryptionAlgorithm(encryption) || !isSigningAlgorithm(signing)) return undefined
  return { encryption, signing }
}

/** Read the single payload frame of a request. Never throws. */
export function readEnvelope(frame: Uint8Array): ClearEnvelope | AesEnvelope | Unreadable {
  let outer: unknown
  try {
    outer = decodeUntrusted(frame)
  } catch (error) {
    return unreadable(refusals.notMessagePack, error instanceof Error ? error.message : 'not MessagePack')
  }
  if (!isRecord(outer) || !('enc' in outer) || !('load' in outer)) {
    return unreadable(refusals.badLoad, 'the envelope is not a map with enc and load')
  }
  const version = outer.version === undefined ? 0 : asNumber(outer.version)
  if (version === undefined || !Number.isFinite(version)) {
    return unreadable(refusals.badLoad, 'the version of the envelope is not a number')
  }
  return outer.enc === 'aes' ? readAes(outer, version) : readClear(outer, version, frame.byteLength)
}

function readAes(outer: Record<string, unknown>, version: number): AesEnvelope | Unreadable {
  const load = asBytes(outer.load)
  if (!load) return unreadable(refusals.badLoad, 'the load of an encrypted envelope is not bytes')
  return { enc: 'aes', version, load, id: outer.id, algorithms: readAlgorithms(outer) }
}

function readClear(
  outer: Record<string, unknown>,
  version: number,
  size: number,
): ClearEnvelope | Unreadable {
  const load = outer.load
  if (!isRecord(load)) return unreadable(refusals.notMaps, 'the load of a clear envelope is not a map')
  if (load.cmd !== 'publish' && size > MAX_CLEAR_BYTES) {
    return unreadable(refusals.badLoad, `a clear message of ${size} bytes is too large`)
  }
  const wrong = checkId(load)
  return wrong ?? { enc: 'clear', version, load, via: readVia(outer.via) }
}

/** Check that the id of a load, if any, is text without NUL. The replies have the texts of Salt's masters. */
export function checkId(load: Readonly<Record<string, unknown>>): Unreadable | undefined {
  if (!('id' in load)) return undefined
  const id = load.id
  if (typeof id !== 'string') {
    const shown = id === null ? 'None' : typeof id === 'object' ? 'of that kind' : String(id)
    return unreadable(`bad load: id ${shown} is not a string`, 'the id is not text')
  }
  if (id.includes('\0')) return unreadable(refusals.nullInId, 'the id contains a NUL')
  return undefined
}

/** Decode the decrypted load of an encrypted request. Undefined if it is not a map. */
export function readLoad(message: Uint8Array): Record<string, unknown> | undefined {
  try {
    const load = decode(message)
    return isRecord(load) ? load : undefined
  } catch {
    return undefined
  }
}
