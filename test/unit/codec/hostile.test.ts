import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SaltError } from '../../../core/base/errors.ts'
import {
  decode,
  decodeRaw,
  decodeUntrusted,
  encodeLocal,
  encodeNetwork,
  StreamDecoder,
} from '../../../core/codec/index.ts'
import { SLOW } from '../../harness/slow.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const kB = 1024
const MB = 1024 * kB
/** The largest frame that is read from a stranger. */
const frame = 256 * kB

describe('a bomb', () => {
  test('of 100 bytes that crashed another decoder is refused at no cost', SLOW, () => {
    const bomb = repeated('dd01c9c380', 20)
    for (const read of [decode, decodeRaw, decodeUntrusted]) {
      expect(costOf(read, bomb)).toBeLessThan(MB)
      expect(refusal(read, bomb).message).toContain('more elements than it has bytes')
    }
  })

  test.each([
    ['an array of 16 million', 'dd01000000'],
    ['a map of four thousand million', 'dfffffffff'],
    ['text of four thousand million bytes', 'dbffffffff'],
    ['bytes of two thousand million', 'c67fffffff'],
    ['an extension of four thousand million', 'c9ffffffff4e'],
  ])('that claims to be large is refused at its head: %s', (_, head) => {
    const bomb = Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(100)])
    expect(costOf(decode, bomb)).toBeLessThan(MB)
    expect(refusal(decode, bomb).code).toBe('DECODE_FAILED')
  })

  test.each([
    ['arrays', '91'],
    ['maps', '81c0'],
    ['maps under a text key', '81a161'],
    ['arrays of 16 bits', 'dc0001'],
    ['named constants', 'c8ffff4f92a161'],
    ['named constants of 32 bits', 'c9000003e84f92a161'],
  ])('of nested %s is refused without a stack overflow', (_, head) => {
    const bomb = Buffer.concat([repeated(head, (2 * MB) / (head.length / 2)), Buffer.from([1])])
    expect(refusal(decode, bomb)).toBeInstanceOf(SaltError)
    expect(costOf(decodeUntrusted, bomb)).toBeLessThan(MB)
  })

  test.each([
    ['in pairs', [0x92, 0xa1, 0x61]],
    ['one directly in the other', []],
  ])('of named constants nested %s is refused by depth', (_, between) => {
    let bomb: Buffer = Buffer.from([1])
    for (let level = 0; level < 5000; level++) bomb = wrapped(Buffer.concat([Buffer.from(between), bomb]))
    expect(refusal(decode, bomb).message).toContain('over 128 levels deep')
  })

  test('of 129 levels is refused, 128 are read; an unauthenticated peer may send 64', () => {
    const nested = (levels: number) => Buffer.concat([repeated('91', levels), Buffer.from([1])])
    expect(decode(nested(128))).toBeInstanceOf(Array)
    expect(decodeUntrusted(nested(64))).toBeInstanceOf(Array)
    expect(encodeLocal(decode(nested(128)))).toEqual(nested(128))
    expect(refusal(decode, nested(129)).message).toContain('over 128 levels deep')
    expect(refusal(decodeUntrusted, nested(65)).message).toContain('over 64 levels deep')
  })
})

describe('an unauthenticated peer with 256 kB', () => {
  test.each([
    ['empty maps', '80'],
    ['empty arrays', '90'],
    ['maps with a number as key', '810101'],
    ['maps with a text key', '81a16101'],
    ['maps with a number in text as key, which V8 makes an array of', `81a431303030 01`],
    ['two such numbers', '82a43130303001a43230303001'],
    ['bytes', 'a1ff'],
    ['extensions', 'd40101'],
    ['broken date-times', 'd44e01'],
    ['whole floats', 'ca40000000'],
    ['floats', 'cb4009090909090909'],
    ['large integers', 'cfffffffffffffffff'],
    ['texts', 'a3616263'],
    ['small integers', '01'],
    ['nil', 'c0'],
  ])('cannot make the decoder allocate more than a few MB with %s', SLOW, (_, element) => {
    const hex = element.replaceAll(' ', '')
    const count = Math.floor(frame / (hex.length / 2))
    expect(costOf(decodeUntrusted, arrayOf(count, repeated(hex, count)))).toBeLessThan(8 * MB)
    const most = hex.startsWith('8') || hex.startsWith('9') ? 4000 : 60_000
    expect(costOf(decodeUntrusted, arrayOf(most, repeated(hex, most)))).toBeLessThan(16 * MB)
  })

  test('cannot make the decoder allocate more than a few MB with a map of many keys', SLOW, () => {
    const keys = Array.from({ length: 32_000 }, (_, i) =>
      Buffer.from(`a4${Buffer.from(i.toString(36).padStart(4, '_')).toString('hex')}01`, 'hex'),
    )
    const message = Buffer.concat([Buffer.from('df00007d00', 'hex'), ...keys])
    expect(costOf(decodeUntrusted, message)).toBeLessThan(16 * MB)
  })

  test('gets an error with the limit', () => {
    expect(refusal(decodeUntrusted, arrayOf(5000, repeated('80', 5000))).message).toContain(
      'over 4096 objects',
    )
    expect(refusal(decodeUntrusted, arrayOf(70_000, repeated('01', 70_000))).message).toContain(
      'over 65536 elements',
    )
  })

  test('can send a list of ten thousand minions', () => {
    const request = {
      cmd: 'publish',
      tgt: Array.from({ length: 10_000 }, (_, i) => `minion-${i}.example.org`),
      tgt_type: 'list',
    }
    expect(decodeUntrusted(encodeNetwork({ enc: 'clear', load: request }))).toEqual({
      enc: 'clear',
      load: request,
    })
  })
})

describe('any bytes', () => {
  test('give a value or DECODE_FAILED', SLOW, () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), expectValueOrRefusal), { numRuns: 5000 })
  })

  test('that look like MessagePack give a value or DECODE_FAILED', SLOW, () => {
    const heads = fc.constantFrom(
      0x80,
      0x81,
      0x82,
      0x91,
      0x93,
      0xa1,
      0xa4,
      0xc0,
      0xc1,
      0xc4,
      0xc7,
      0xcb,
      0xcf,
      0xd4,
      0xd9,
      0xdc,
      0xde,
      0x4e,
      0x4f,
      0x00,
      0x01,
      0x61,
      0xff,
    )
    const bytes = fc.array(heads, { maxLength: 200 }).map((list) => Uint8Array.from(list))
    fc.assert(fc.property(bytes, expectValueOrRefusal), { numRuns: 5000 })
  })

  const values = fc.anything({
    withBigInt: true,
    withSet: true,
    withTypedArray: true,
    withDate: true,
    withNullPrototype: true,
  })

  test('cut off from a message are always refused', () => {
    fc.assert(
      fc.property(values, fc.nat(), (value, cut) => {
        const whole = encodeLocal({ value })
        expect(refusal(decode, whole.subarray(0, cut % whole.length)).code).toBe('DECODE_FAILED')
      }),
    )
  })

  test('of a message with one byte changed give a value or DECODE_FAILED', () => {
    fc.assert(
      fc.property(values, fc.nat(), fc.nat(255), (value, at, byte) => {
        const message = encodeNetwork({ value })
        message[at % message.length] = byte
        expectValueOrRefusal(message)
      }),
    )
  })

  test('pushed into a stream give values or DECODE_FAILED', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.integer({ min: 1, max: 50 }), (bytes, size) => {
        const stream = new StreamDecoder(decode)
        const pushAll = () => chunksOf(bytes, size).map((chunk) => stream.push(chunk))
        expectNoSurprise(outcome(pushAll, bytes))
      }),
      { numRuns: 2000 },
    )
  })
})

function expectValueOrRefusal(bytes: Uint8Array): void {
  for (const read of [decode, decodeRaw, decodeUntrusted]) expectNoSurprise(outcome(read, bytes))
}

function expectNoSurprise(result: unknown): void {
  if (SaltError.is(result)) expect(result.code).toBe('DECODE_FAILED')
}

/** The value, or the SaltError that refused it; anything else that is thrown fails the test. */
function outcome(read: (bytes: Uint8Array) => unknown, bytes: Uint8Array): unknown {
  try {
    return read(bytes)
  } catch (thrown) {
    if (SaltError.is(thrown)) return thrown
    throw thrown
  }
}

function refusal(read: (bytes: Uint8Array) => unknown, bytes: Uint8Array): SaltError {
  const result = outcome(read, bytes)
  if (SaltError.is(result)) return result
  throw new Error('the bytes were not refused')
}

/** Bytes that decoding took and that are not collected yet: at least what its result keeps. */
function costOf(read: (bytes: Uint8Array) => unknown, bytes: Uint8Array): number {
  collectGarbage()
  const before = allocated()
  const result = outcome(read, bytes)
  return result === bytes ? 0 : allocated() - before
}

function allocated(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function repeated(hex: string, times: number): Buffer {
  return Buffer.alloc((hex.length / 2) * Math.floor(times), hex, 'hex')
}

function arrayOf(count: number, elements: Buffer): Buffer {
  const head = Buffer.from([0xdd, 0, 0, 0, 0])
  head.writeUInt32BE(count, 1)
  return Buffer.concat([head, elements])
}

function wrapped(payload: Buffer): Buffer {
  const head = Buffer.from([0xc9, 0, 0, 0, 0, 0x4f])
  head.writeUInt32BE(payload.length, 1)
  return Buffer.concat([head, payload])
}

function chunksOf(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  )
}
