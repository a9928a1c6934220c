import { describe, expect, test } from 'vitest'
import * as random from '../../../modules/mod_random.ts'
import { call, fakeContext } from './context.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at)

describe('Seeded results are those of Python', () => {
  test.each([
    [1, 10, 'web1', 6],
    [1, 1000000, 5, 653160],
    [0, 99999999999, 'abc', 62526860338],
    [-5, 5, '', 2],
    [1, 10, true, 3],
    [1, 100, 1000000000000000, 29],
  ])('rand_int from %j to %j with the seed %j is %j', async (start, end, seed, expected) => {
    expect(await call(random.rand_int, { start, end, seed })).toBe(expected)
  })

  test('seed depends on the id of the minion, or on the given value', async () => {
    const context = fakeContext({ grains: { id: 'm1' } })
    expect(await call(random.seed, { range: 60 }, context)).toBe(11)
    expect(await call(random.seed, { range: 60, hash: 'm1' })).toBe(11)
    expect(await call(random.seed, { range: 1000, hash: -12345678901 })).toBe(968)
    await expect(call(random.seed, { hash: 1.5 })).rejects.toThrow('A seed has to be text or an integer.')
  })

  test.each([
    [3, 10, [1, 3, 7]],
    [3, 30, [2, 7, 22]],
    [7, 1000, [73, 231, 723, 468, 154, 863, 337]],
    [7, 80, [9, 28, 58, 19, 42, 5, 61]],
    [6, 86, [9, 28, 58, 19, 42, 5]],
    [0, 5, []],
  ])('a sample of %j of %j members is the same', async (size, count, expected) => {
    expect(await call(random.sample, { value: numbers(count), size, seed: 'y' })).toEqual(expected)
  })

  test('shuffle gives the same order', async () => {
    expect(await call(random.shuffle, { value: numbers(12), seed: 'x' })).toEqual([
      6, 4, 1, 0, 5, 3, 7, 10, 2, 8, 9, 11,
    ])
  })
})

test('a text is a population of its characters', async () => {
  expect(await call(random.shuffle, { value: 'abc', seed: 'foo' })).toEqual(['c', 'b', 'a'])
  expect(await call(random.sample, { value: 'abc', size: 2, seed: 'x' })).toEqual(['b', 'c'])
})

describe('Unseeded results', () => {
  test('rand_int stays in its range', async () => {
    for (const _ of numbers(50)) expect([3, 4]).toContain(await call(random.rand_int, { start: 3, end: 4 }))
    await expect(call(random.rand_int, { start: 10, end: 1 })).rejects.toThrow(
      'The range is empty: 10 is more than 1.',
    )
    await expect(call(random.rand_int, { start: 0, end: 2 ** 52 })).rejects.toThrow('give a seed')
  })

  test('sample and shuffle use each member once', async () => {
    expect(
      ((await call(random.shuffle, { value: numbers(30) })) as number[]).toSorted((a, b) => a - b),
    ).toEqual(numbers(30))
    expect(new Set((await call(random.sample, { value: numbers(100), size: 6 })) as number[]).size).toBe(6)
    await expect(call(random.sample, { value: [1], size: 2 })).rejects.toThrow(
      'Sample larger than population or is negative',
    )
  })

  test('get_str has the length and the characters asked for', async () => {
    expect(await call(random.get_str)).toMatch(/^[!-~]{20}$/)
    expect(await call(random.get_str, { length: 128, chars: 'abc123.!()' })).toMatch(/^[abc123.!()]{128}$/)
    expect(await call(random.get_str, { length: 500, lowercase: false, whitespace: true })).toMatch(
      /^[^a-z]*\s[^a-z]*$/s,
    )
    expect(await call(random.get_str, { length: 500, printable: true, digits: false })).toMatch(/\d/)
    const none = { lowercase: false, uppercase: false, digits: false, punctuation: false }
    await expect(call(random.get_str, none)).rejects.toThrow('All classes of characters are switched off.')
  })
})

describe('Hashes', () => {
  test('hash supports the names of Python', async () => {
    expect(await call(random.hash, { value: 'x', algorithm: 'md5' })).toBe('9dd4e461268c8034f5c8564e155c67a6')
    expect(await call(random.hash, { value: 'x' })).toHaveLength(128)
    expect(await call(random.hash, { value: 'x', algorithm: 'sha3_256' })).toBe(
      '741efa311f97686956946758e0d95f70f11ff2da4f2feb7c54314f44134ac49f',
    )
    expect(await call(random.hash, { value: 'x', algorithm: 'blake2b' })).toHaveLength(128)
    await expect(call(random.hash, { value: 'x', algorithm: 'crc' })).rejects.toThrow(
      'You must specify a valid algorithm.',
    )
  })

  test('str_encode is base64', async () => {
    expect(await call(random.str_encode, { value: 'I am a new string' })).toBe('SSBhbSBhIG5ldyBzdHJpbmc=')
    await expect(call(random.str_encode, { value: 'x', encoder: 'rot99' })).rejects.toThrow(
      'You must specify a valid encoder',
    )
  })

  test.each([
    [
      'abcdefgh',
      'sha512',
      'pw',
      '$6$abcdefgh$KQeXafAQAaOoKTevphVU215RvJdgzyfASRasIOuh12hO8u0r1bGW92ZnTmC9IjsiQ8VPiTXBiZF49dFL1U4wX/',
    ],
    [
      'rounds=2000$longersaltlongersalt',
      'sha512',
      'longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong',
      '$6$rounds=2000$longersaltlonger$a2m6wBLG2ZgRWJJ5NC4k0.jsVSUk6WbYBxMx7MKFoeihUFC5YY8eO/brOrs3p5aI7b6F.jtvGHFaJcWBuiPiW0',
    ],
    [
      'x',
      'sha512',
      '',
      '$6$x$QSmr1Bx2g4O6BzKvdkgOcyU6H91X6I/XBv5pSalMhSPkwdH6Beo3F455xZJg0v//bxVK5F4OE5k1.0xuR26MK0',
    ],
    ['salt', 'sha256', 'pässword', '$5$salt$6IzlsZZm891jmBvsNbZmjquuGNaCmclsWan6h1JzIt8'],
    [
      'rounds=1500$abc',
      'sha256',
      'longlonglonglonglonglonglonglonglonglonglong',
      '$5$rounds=1500$abc$BVnS9m0huEQXLdzxvsgCcIU/8pJPuYhamV27st0.DC/',
    ],
    ['abcdefgh', 'md5', 'pw', '$1$abcdefgh$IQtUouv7y7Q9dRWkQEPCc.'],
    [
      'abcdefghij',
      'md5',
      'longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong',
      '$1$abcdefgh$N53GiDJf9saRr5mSuY5SC/',
    ],
  ])(
    'shadow_hash with the salt %j and %s is that of the C library',
    async (crypt_salt, algorithm, password, expected) => {
      expect(await call(random.shadow_hash, { crypt_salt, algorithm, password })).toBe(expected)
    },
  )

  test('shadow_hash generates missing arguments', async () => {
    const [one, other] = [await call(random.shadow_hash), await call(random.shadow_hash, { password: 'pw' })]
    for (const hash of [one, other]) expect(hash).toMatch(/^\$6\$[./\w]{16}\$[./\w]{86}$/)
  })

  test('shadow_hash refuses an unsafe or unknown algorithm', async () => {
    await expect(call(random.shadow_hash, { password: 'pw', algorithm: 'crypt' })).rejects.toThrow(
      "Cannot hash using 'crypt' hash algorithm. Natively supported algorithms are: ['sha512', 'sha256', 'md5'].",
    )
  })
})
