import { describe, expect, test } from 'vitest'
import { pad, unpad } from '../../../core/crypto/x931.ts'

describe('X9.31 padding', () => {
  test.each([
    ['616263', 8, '6bbbbbba616263cc'.padStart(16)],
    ['6162636465', 8, '6bba6162636465cc'],
    ['616263646566', 8, '6a616263646566cc'],
    ['ba', 6, '6bbbbabaCC'.toLowerCase()],
  ])('of %s to %d bytes', (message, size, block) => {
    const padded = pad(Buffer.from(message, 'hex'), size)
    expect(padded).toHaveLength(size)
    expect(unpad(padded)?.toString('hex')).toBe(message)
    if (block.length === 2 * size) expect(padded.toString('hex')).toBe(block)
  })

  test.each([
    ['6c616263646566cc', 'another head'],
    ['6bbbbbbbbbbbbbcc', 'no end of the padding'],
    ['6bbbbbaa616263cc', 'something else in the padding'],
    ['6bbbbbba616263cd', 'another trailer'],
    ['6bbbbbbbbbbbbacc', 'no message'],
    ['6acc', 'no message'],
    ['cc', 'only a trailer'],
    ['', 'nothing'],
  ])('%s is no block: %s', (block) => {
    expect(unpad(Buffer.from(block, 'hex'))).toBeUndefined()
  })
})
