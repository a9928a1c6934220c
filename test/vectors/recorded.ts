/** Keys of the recorded peers, and the checks that every recorded message of its kind has to pass. */
import { expect } from 'vitest'
import { decode, encodeNetwork, type Value } from '../../core/codec/index.ts'
import { encryptEnvelope } from '../../core/crypto/envelope.ts'
import {
  type EncryptionAlgorithm,
  PrivateKey,
  type PublicKey,
  type SigningAlgorithm,
  SymmetricKey,
} from '../../core/crypto/index.ts'
import { bytes, parseNote, vectors } from '../harness/vectors.ts'

export interface SignIn {
  name?: string
  summary?: string
  request_b64: string
  request: { load: Note; version?: number }
  reply_b64?: string | null
  reply?: unknown
  signed_load?: Note
  signature_algorithm?: SigningAlgorithm
  decrypted?: Record<string, string>
}

export interface PillarSteps {
  key_b64?: string
  key_decrypted: string
  pillar_ciphertext_b64?: string
  signed_envelope?: { data_b64: string; sig_b64: string }
  signature_algorithm?: SigningAlgorithm
  data_decoded?: unknown
  pillar_decoded?: unknown
}

type Note = Record<string, unknown>

const keys = vectors('keys')
const pairs = new Map<string, PrivateKey>()

/** The key pair of `master`, `master_sign` or a minion. */
export function pairOf(owner: string): PrivateKey {
  const pair =
    pairs.get(owner) ??
    PrivateKey.parse(keys[`${owner}_private_pem`] ?? keys[`minion_${owner}_private_pem`] ?? '')
  pairs.set(owner, pair)
  return pair
}

export function publicKeyOf(owner: string): PublicKey {
  return pairOf(owner).publicKey
}

/** The frame decodes to what is noted, and the value encodes to the same frame. Notes in brackets stand for bytes. */
export function expectFrame(frame: Uint8Array, note: unknown): Value {
  const value = decode(frame)
  expect(value).toStrictEqual(filled(parseNote(note), value))
  expect(encodeNetwork(value).equals(frame)).toBe(true)
  return value
}

/** The envelope opens to what is noted, and can be made again byte for byte. */
export function expectEnvelope(
  sealed: unknown,
  keyText: string,
  nonce: string | null | undefined,
  note: unknown,
): Value {
  const envelope = bytesOf(sealed)
  const key = SymmetricKey.parse(keyText)
  const message = key.decrypt(envelope, nonce ?? undefined)
  if (!message) throw new Error('the envelope does not open')
  expect(reseal(keyText, envelope, nonce ?? '', message).equals(envelope)).toBe(true)
  expectRefused(key, envelope)
  return expectFrame(message, note)
}

function reseal(keyText: string, envelope: Buffer, nonce: string, message: Buffer): Buffer {
  const raw = bytes(keyText)
  const plain = [Buffer.from(`pickle::${nonce}`), message]
  return encryptEnvelope(
    { cipher: raw.subarray(0, 24), mac: raw.subarray(24) },
    envelope.subarray(0, 16),
    plain,
  )
}

function expectRefused(key: SymmetricKey, envelope: Buffer): void {
  expect(key.decrypt(envelope, '0'.repeat(32))).toBeUndefined()
  expect(SymmetricKey.generate().decrypt(envelope)).toBeUndefined()
  for (const at of [0, 16, envelope.length - 1]) expect(key.decrypt(flipped(envelope, at))).toBeUndefined()
}

/** The signature verifies, is made again byte for byte, and fits nothing else. */
export function expectSignature(
  owner: string,
  data: Buffer,
  signature: unknown,
  algorithm: SigningAlgorithm,
): void {
  const sig = bytesOf(signature)
  const other = algorithm === 'PKCS1v15-SHA1' ? 'PKCS1v15-SHA224' : 'PKCS1v15-SHA1'
  expect(publicKeyOf(owner).verify(data, sig, algorithm)).toBe(true)
  expect(pairOf(owner).sign(data, algorithm).equals(sig)).toBe(true)
  expect(publicKeyOf(owner).verify(data, sig, other)).toBe(false)
  expect(publicKeyOf(owner).verify(flipped(data, 0), sig, algorithm)).toBe(false)
  expect(publicKeyOf(owner).verify(data, flipped(sig, 9), algorithm)).toBe(false)
}

/** The X9.31 value holds `message`, and is made again byte for byte. */
export function expectSeal(owner: string, sealed: unknown, message: string): void {
  expect(publicKeyOf(owner).recover(bytesOf(sealed))?.toString()).toBe(message)
  expect(pairOf(owner).seal(Buffer.from(message)).equals(bytesOf(sealed))).toBe(true)
  expect(publicKeyOf(owner).recover(flipped(bytesOf(sealed), 9))).toBeUndefined()
}

function expectEncrypted(
  owner: string,
  sealed: unknown,
  algorithm: EncryptionAlgorithm,
  plain?: string,
): void {
  expect(pairOf(owner).decrypt(bytesOf(sealed), algorithm)?.toString()).toBe(plain)
}

/** A sign-in: both frames, the signature of the reply, and all that the client recovers from it. */
export function expectSignIn(exchange: SignIn): void {
  expectFrame(bytes(exchange.request_b64), exchange.request)
  if (!exchange.reply_b64) return
  const reply = expectReply(exchange)
  if (exchange.decrypted) expectAccepted(exchange, reply, exchange.decrypted)
}

function expectReply(exchange: SignIn): Note {
  const frame = bytes(exchange.reply_b64 ?? '')
  if (!exchange.signed_load) return expectFrame(frame, exchange.reply) as Note
  const envelope = decode(frame) as Note
  expect(encodeNetwork(envelope).equals(frame)).toBe(true)
  expect(Object.keys(envelope)).toEqual(['enc', 'load', 'sig'])
  const load = bytesOf(envelope.load)
  expectSignature('master', load, envelope.sig, exchange.signature_algorithm ?? 'PKCS1v15-SHA1')
  expect(exchange.signed_load.nonce).toBe(exchange.request.load.nonce)
  return expectFrame(load, exchange.signed_load) as Note
}

function expectAccepted(exchange: SignIn, reply: Note, recovered: Record<string, string>): void {
  const { load } = exchange.request
  const minion = String(load.id)
  const algorithm = (load.enc_algo ?? 'OAEP-SHA1') as EncryptionAlgorithm
  const aes = recovered.aes_key_string ?? ''
  expectEncrypted(minion, reply.aes, algorithm, aes)
  expect(SymmetricKey.parse(aes).digest()).toBe(recovered.sha256_hex_of_aes_key_string)
  expectSeal('master', reply.sig, recovered.digest_recovered_from_sig ?? '')
  if (recovered.session_key_string)
    expectEncrypted(minion, reply.session, algorithm, recovered.session_key_string)
  if (recovered.token) expectEncrypted(minion, reply.token, algorithm, recovered.token)
  if (recovered.request_token)
    expectEncrypted('master', parseNote(load.token), algorithm, recovered.request_token)
  if (reply.pub_sig) expectKeySignature(exchange, reply)
}

function expectKeySignature(exchange: SignIn, reply: Note): void {
  const algorithm = (exchange.request.load.sig_algo ?? 'PKCS1v15-SHA1') as SigningAlgorithm
  expect(String(reply.pub_sig).endsWith('\n')).toBe(true)
  expectSignature('master_sign', Buffer.from(String(reply.pub_key)), bytes(String(reply.pub_sig)), algorithm)
}

/** A pillar reply: the one-time key, the envelope under it, and the signed value inside. */
export function expectPillar(frame: Buffer, steps: PillarSteps, request: Note, algorithm?: unknown): void {
  const reply = decode(frame) as Note
  expect(encodeNetwork(reply).equals(frame)).toBe(true)
  expectEncrypted(
    String(request.id),
    reply.key,
    (algorithm ?? 'OAEP-SHA1') as EncryptionAlgorithm,
    steps.key_decrypted,
  )
  if (!steps.signed_envelope)
    return void expectEnvelope(reply.pillar, steps.key_decrypted, null, steps.pillar_decoded)
  const note = { data: '(data)', sig: '(sig)' }
  const { data, sig } = expectEnvelope(reply.pillar, steps.key_decrypted, null, note) as Note
  expect(bytesOf(sig)).toEqual(bytes(steps.signed_envelope.sig_b64))
  expectSignature('master', bytesOf(data), sig, steps.signature_algorithm ?? 'PKCS1v15-SHA1')
  expect(expectFrame(bytesOf(data), steps.data_decoded)).toMatchObject({
    key: reply.key,
    nonce: request.nonce,
  })
}

/** Bytes may have become text on the way. */
export function bytesOf(value: unknown): Buffer {
  return typeof value === 'string' ? Buffer.from(value) : Buffer.from(value as Uint8Array)
}

function flipped(data: Buffer, at: number): Buffer {
  const copy = Buffer.from(data)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

/** The note with what the file left out, such as "(see request_plain)", taken from the value. */
function filled(note: unknown, value: unknown): unknown {
  if (typeof note === 'string' && /^\(.*\)$/.test(note)) return value
  if (typeof note !== 'object' || note?.constructor !== Object) return note
  return Object.fromEntries(
    Object.entries(note).map(([key, member]) => [key, filled(member, (value as Note)[key])]),
  )
}

export interface Publication {
  scenario: string | null
  frames_b64: string[]
  topic: string | null
  envelope_keys: string[]
  aes_key_string: string
  load_plain: Note
  signature_valid?: boolean
  sig_algo?: SigningAlgorithm
  signature_algorithm?: SigningAlgorithm
}

/** A publication: its frames, the signature over the envelope, and the job inside. */
export function expectPublication(publication: Publication): void {
  const frames = publication.frames_b64.map(bytes)
  expect(frames.slice(0, -1).map(String)).toEqual(publication.topic === null ? [] : [publication.topic])
  const frame = frames.at(-1) ?? Buffer.alloc(0)
  const payload = decode(frame) as Note
  expect(encodeNetwork(payload).equals(frame)).toBe(true)
  expect(Object.keys(payload)).toEqual(publication.envelope_keys)
  expect(payload.sig_algo).toBe(publication.sig_algo)
  if (payload.sig) {
    const algorithm = publication.signature_algorithm ?? 'PKCS1v15-SHA1'
    expectSignature('master', bytesOf(payload.load), payload.sig, algorithm)
  }
  expectEnvelope(payload.load, publication.aes_key_string, null, publication.load_plain)
}
