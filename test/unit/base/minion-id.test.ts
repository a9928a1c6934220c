import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isMinionId, parseMinionId } from '../../../core/base/minion-id.ts'
import { SLOW } from '../../harness/slow.ts'

describe('minion ids', () => {
  test.each([
    'web1',
    'web-1.example.com',
    'a b',
    '.hidden',
    'grün',
    'サーバー',
    'host:8080',
    "it's",
    'a,b',
    'ü'.repeat(126),
  ])('accepts %j', (id) => {
    expect(parseMinionId(id)).toBe(id)
  })

  test.each([
    ['', 'empty'],
    ['.', 'directory'],
    ['..', 'directory'],
    ['../x', 'slash'],
    ['a\\b', 'slash'],
    ['a\0', 'control'],
    ['a\nb', 'control'],
    ['a\u202eb', 'invisible'],
    ['a\u2028b', 'invisible'],
    ['\ud800', 'invisible'],
    ['web*', 'pattern'],
    ['web[1]', 'pattern'],
    ['web?', 'pattern'],
    [' web', 'white space'],
    ['web ', 'white space'],
    ['x'.repeat(254), 'longer'],
    ['ü'.repeat(127), 'longer'],
    [7, 'not text'],
    [null, 'not text'],
    [['web1'], 'not text'],
  ])('refuses %j and says why', (id, reason) => {
    expect(isMinionId(id)).toBe(false)
    expect(() => parseMinionId(id)).toThrow(
      expect.objectContaining({ code: 'ID_INVALID', message: expect.stringContaining(reason) }),
    )
  })

  test('never accept a text that is not a single file name', SLOW, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        if (!isMinionId(text)) return
        expect(text).not.toMatch(/[/\\\0\n]/)
        expect(['', '.', '..']).not.toContain(text)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(253)
      }),
      { numRuns: 300 },
    )
  })
})
