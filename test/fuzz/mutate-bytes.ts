import type { Random } from '../harness/random.ts'

/** The ends of ranges of integers. */
const EDGES = [0, 1, 2, 7, 0x0f, 0x10, 0x1f, 0x20, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff]
const LARGE_EDGES = [0x10000, 0xffffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff]

/** First bytes of MessagePack values, with their lengths. */
const HEADS = [
  '80',
  '8f',
  '90',
  '9f',
  'a0',
  'bf',
  'c0',
  'c1',
  'c4ff',
  'c5ffff',
  'c6ffffffff',
  'c7004e',
  'c7024f',
]
const MORE_HEADS = [
  'c9ffffffff4e',
  'ca7fc00000',
  'cb7ff0000000000000',
  'cfffffffffffffffff',
  'd38000000000000000',
]
const CONTAINERS = [
  'd44f',
  'd84e',
  'd900',
  'daffff',
  'dbffffffff',
  'dc0001',
  'ddffffffff',
  'de0001',
  'dfffffffff',
]
const heads = [...HEADS, ...MORE_HEADS, ...CONTAINERS].map((hex) => Buffer.from(hex, 'hex'))

type Change = (bytes: Buffer, other: Buffer, random: Random) => Buffer

/** Return the bytes with one to eight changes. `other` gives parts to splice in. */
export function mutateBytes(bytes: Buffer, other: Buffer, random: Random): Buffer {
  let changed: Buffer = Buffer.from(bytes)
  do changed = random.pick(changes)(changed, other, random)
  while (random.oneIn(2))
  return changed
}

const replaced = (bytes: Buffer, [start, end]: readonly [number, number], by: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, start), by, bytes.subarray(end)])

const changes: readonly Change[] = [
  function flipBit(bytes, _, random) {
    if (bytes.length > 0) bytes[random.below(bytes.length)]! ^= 1 << random.below(8)
    return bytes
  },
  function setByte(bytes, _, random) {
    if (bytes.length > 0)
      bytes[random.below(bytes.length)] = random.oneIn(2) ? random.below(256) : random.pick(EDGES)
    return bytes
  },
  function setInteger(bytes, _, random) {
    const width = random.pick([1, 2, 4])
    if (bytes.length < width) return bytes
    const value = random.pick(width === 4 ? [...EDGES, ...LARGE_EDGES] : EDGES) % 2 ** (8 * width)
    bytes.writeUIntBE(value, random.below(bytes.length - width + 1), width)
    return bytes
  },
  /** Add to or subtract from a byte, such as a length. */
  function step(bytes, _, random) {
    if (bytes.length > 0) bytes[random.below(bytes.length)]! += random.below(9) - 4
    return bytes
  },
  (bytes, _, random) => replaced(bytes, random.span(bytes.length), Buffer.alloc(0)),
  function repeatPart(bytes, _, random) {
    const [start, end] = random.span(bytes.length)
    const times = random.oneIn(8) ? random.below(200) : 1
    return replaced(bytes, [end, end], Buffer.alloc((end - start) * times, bytes.subarray(start, end)))
  },
  (bytes, _, random) => replaced(bytes, random.span(bytes.length), random.pick(heads)),
  (bytes, other, random) =>
    replaced(bytes, random.span(bytes.length), other.subarray(...random.span(other.length))),
  (bytes, _, random) => bytes.subarray(0, random.below(bytes.length + 1)),
]
