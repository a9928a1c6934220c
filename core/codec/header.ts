import { SaltError } from '../base/errors.ts'

/** The size of a value in bytes, without its elements, and the number of elements that follow. */
export interface Header {
  readonly size: number
  readonly elements: number
}

/** Whether a value that begins with this byte is an array or a map. */
export function isContainer(head: number): boolean {
  return (head >= 0x80 && head < 0xa0) || (head >= 0xdc && head < 0xe0)
}

/** Read the header at `at`; undefined if it is not complete before `end`. */
export function headerAt(bytes: Buffer, at: number, end: number): Header | undefined {
  if (at >= end) return undefined
  const head = bytes[at]!
  if (head < 0x80 || head >= 0xe0) return { size: 1, elements: 0 }
  if (head < 0x90) return { size: 1, elements: 2 * (head & 0x0f) }
  if (head < 0xa0) return { size: 1, elements: head & 0x0f }
  if (head < 0xc0) return { size: 1 + (head & 0x1f), elements: 0 }
  const [width, fixed, unit] = layouts[head - 0xc0]!
  if (unit === unassigned)
    throw new SaltError('DECODE_FAILED', 'The stream holds the byte 0xc1, which begins no value.')
  if (at + 1 + width > end) return undefined
  const count = width === 0 ? 0 : bytes.readUIntBE(at + 1, width)
  const size = 1 + width + fixed
  return unit === inBytes ? { size: size + count, elements: 0 } : { size, elements: unit * count }
}

/**
 * Return the end of the value that begins at `at`.
 * @throws SaltError DECODE_FAILED if it is not complete
 */
export function endOfValue(bytes: Buffer, at: number): number {
  let end = at
  for (let owed = 1; owed > 0; owed--) {
    const header = headerAt(bytes, end, bytes.length)
    if (header === undefined) throw new SaltError('DECODE_FAILED', 'A value is incomplete.')
    end += header.size
    owed += header.elements
  }
  if (end > bytes.length) throw new SaltError('DECODE_FAILED', 'A value is incomplete.')
  return end
}

const unassigned = -1
const inBytes = 0
const inElements = 1
const inPairs = 2

/** For the first bytes 0xc0 to 0xdf: bytes of the count, further bytes of fixed number, and the unit of the count. */
const layouts: readonly (readonly [width: number, fixed: number, unit: number])[] = [
  [0, 0, inBytes], // nil
  [0, 0, unassigned],
  [0, 0, inBytes], // false
  [0, 0, inBytes], // true
  [1, 0, inBytes], // bin 8, 16, 32
  [2, 0, inBytes],
  [4, 0, inBytes],
  [1, 1, inBytes], // ext 8, 16, 32
  [2, 1, inBytes],
  [4, 1, inBytes],
  [0, 4, inBytes], // float 32, 64
  [0, 8, inBytes],
  [0, 1, inBytes], // uint 8, 16, 32, 64
  [0, 2, inBytes],
  [0, 4, inBytes],
  [0, 8, inBytes],
  [0, 1, inBytes], // int 8, 16, 32, 64
  [0, 2, inBytes],
  [0, 4, inBytes],
  [0, 8, inBytes],
  [0, 2, inBytes], // fixext 1, 2, 4, 8, 16
  [0, 3, inBytes],
  [0, 5, inBytes],
  [0, 9, inBytes],
  [0, 17, inBytes],
  [1, 0, inBytes], // str 8, 16, 32
  [2, 0, inBytes],
  [4, 0, inBytes],
  [2, 0, inElements], // array 16, 32
  [4, 0, inElements],
  [2, 0, inPairs], // map 16, 32
  [4, 0, inPairs],
]
