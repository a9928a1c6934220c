import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { decode, decodeRaw, encodeNetwork } from '../../core/codec/index.ts'
import { type EnvelopeKeys, encryptEnvelope } from '../../core/crypto/envelope.ts'
import { SymmetricKey } from '../../core/crypto/index.ts'
import { bytes, parseNote, vectors } from '../harness/vectors.ts'

interface Sample {
  name: string
  input: unknown
  nonce: string | null
  iv_hex: string
  msgpack_sha256: string
  msgpack_hex?: string
  ciphertext_b64: string
  decoded: unknown
  decoded_raw: unknown
}

interface Tampered {
  name: string
  key_b64: string
  ciphertext_b64: string
  nonce: string | null
  result: { returns?: unknown; raises?: string }
}

interface Crypticle {
  key_b64: string
  aes_key_hex: string
  hmac_key_hex: string
  samples: Sample[]
  tampered: Tampered[]
  serial_sequence: { steps: { serial: number; ciphertext_b64: string }[] }
}

const file = vectors<Crypticle>('crypticle')
const key = SymmetricKey.parse(file.key_b64)
const keys: EnvelopeKeys = {
  cipher: Buffer.from(file.aes_key_hex, 'hex'),
  mac: Buffer.from(file.hmac_key_hex, 'hex'),
}

describe('symmetric envelopes recorded from Salt', () => {
  describe.each(file.samples)('$name', (sample) => {
    const nonce = sample.nonce ?? undefined
    const message = key.decrypt(bytes(sample.ciphertext_b64), nonce) ?? Buffer.alloc(0)

    test('decrypts to the same MessagePack bytes', () => {
      expect(sha256(message)).toBe(sample.msgpack_sha256)
      if (sample.msgpack_hex) expect(message.toString('hex')).toBe(sample.msgpack_hex)
    })

    test('decodes to the value that Salt gets', () => {
      expect(withoutSerial(digested(decode(message)))).toStrictEqual(parseNote(sample.decoded))
    })

    // One large sample has no note of its raw value.
    if (sample.decoded === null || sample.decoded_raw !== null) {
      test('decodes without text conversion to the bytes that Salt gets', () => {
        expect(digested(decodeRaw(message))).toStrictEqual(parseRawNote(sample.decoded_raw))
      })
    }

    test('is reproduced from the value it was made of', () => {
      const written = encodeNetwork(inputOf(sample.input))
      expect(sha256(written)).toBe(sample.msgpack_sha256)
    })

    test('is reproduced from the value it decodes to', () => {
      expect(encodeNetwork(decode(message)).equals(message)).toBe(true)
      expect(encodeNetwork(decodeRaw(message)).equals(message)).toBe(true)
    })

    test('is reproduced with its IV', () => {
      const parts = [Buffer.from(`pickle::${sample.nonce ?? ''}`), message]
      const sealed = encryptEnvelope(keys, Buffer.from(sample.iv_hex, 'hex'), parts)
      expect(sealed.equals(bytes(sample.ciphertext_b64))).toBe(true)
    })
  })

  const tampered = file.tampered
  const intact = tampered.filter((sample) => sample.result.returns !== undefined)
  const garbled = tampered.filter((sample) => sample.result.raises === 'SaltDeserializationError')
  const refused = tampered.filter((sample) => !intact.includes(sample) && !garbled.includes(sample))

  test.each(intact)('$name opens as it does in Salt', (sample) => {
    expect(decode(opened(sample) ?? Buffer.alloc(0))).toStrictEqual(sample.result.returns)
  })

  test.each(garbled)('$name opens, but is no message', (sample) => {
    expect(() => decode(opened(sample) ?? Buffer.from([0x80]))).toThrow('cannot be decoded')
  })

  test.each(refused)('$name does not open', (sample) => {
    expect(opened(sample)).toBeUndefined()
  })

  test.each(file.serial_sequence.steps)('the publication with serial $serial decrypts', (step) => {
    const message = key.decrypt(bytes(step.ciphertext_b64))
    expect(decode(message ?? Buffer.alloc(0))).toMatchObject({ serial: step.serial })
  })
})

function opened(sample: Tampered): Buffer | undefined {
  return SymmetricKey.parse(sample.key_b64).decrypt(bytes(sample.ciphertext_b64), sample.nonce ?? undefined)
}

/** The receiver's last step belongs to the publish channel: it takes the serial off. */
function withoutSerial(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('serial' in value)) return value
  const { serial: _, ...rest } = value
  return rest
}

/** What a sample was made of: a set is a Set, and long bytes follow a formula. */
function inputOf(note: unknown): unknown {
  if (typeof note !== 'object' || note === null) return note
  if ('$bytes_formula' in note) return Uint8Array.from({ length: 1 << 20 }, (_, i) => i * 7 + (i >> 8))
  if ('$set' in note) return new Set(parseNote(note.$set) as [])
  if (Array.isArray(note) || Object.keys(note)[0]?.startsWith('$')) return parseNote(note)
  return Object.fromEntries(Object.entries(note).map(([name, value]) => [name, inputOf(value)]))
}

/** Raw values are noted with raw keys; ours are text all the same. */
function parseRawNote(note: unknown): unknown {
  if (Array.isArray(note)) return note.map(parseRawNote)
  if (typeof note !== 'object' || note === null || !('$map' in note)) return parseNote(note)
  const pairs = (note.$map as [unknown, unknown][]).map(
    ([name, value]) => [parseNote(name), parseRawNote(value)] as const,
  )
  if (pairs.some(([name]) => typeof name === 'number')) return new Map(pairs)
  return Object.fromEntries(pairs.map(([name, value]) => [String(name), value]))
}

/** Long bytes are noted by their hash. */
function digested(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    return value.length < 60_000 ? value : { $bytes_sha256: sha256(value), len: value.length }
  }
  if (Array.isArray(value)) return value.map(digested)
  if (typeof value !== 'object' || value?.constructor !== Object) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, digested(member)]))
}

function sha256(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}
