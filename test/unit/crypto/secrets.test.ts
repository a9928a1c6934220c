import { describe, expect, test } from 'vitest'
import {
  isEncryptionAlgorithm,
  isSigningAlgorithm,
  newNonce,
  secretsEqual,
} from '../../../core/crypto/index.ts'

test('a nonce is 32 lower-case hex characters, and no two are alike', () => {
  const nonces = Array.from({ length: 1000 }, newNonce)
  expect(nonces.every((nonce) => /^[0-9a-f]{32}$/.test(nonce))).toBe(true)
  expect(new Set(nonces).size).toBe(1000)
})

describe('two secrets', () => {
  test.each([
    ['', '', true],
    ['a', 'a', true],
    ['ż', 'ż', true],
    ['a', 'b', false],
    ['a', 'aa', false],
    ['', 'a', false],
  ])('%j and %j: %s', (a, b, isEqual) => {
    expect(secretsEqual(a, b)).toBe(isEqual)
  })
})

describe('the names of algorithms', () => {
  test('are these four', () => {
    expect(['OAEP-SHA1', 'OAEP-SHA224'].every(isEncryptionAlgorithm)).toBe(true)
    expect(['PKCS1v15-SHA1', 'PKCS1v15-SHA224'].every(isSigningAlgorithm)).toBe(true)
  })

  test.each([
    'OAEP-SHA256',
    'PKCS1v15-MD5',
    'oaep-sha1',
    'constructor',
    '__proto__',
    '',
    1,
    null,
    undefined,
    ['OAEP-SHA1'],
  ])('do not include %j', (name) => {
    expect([isEncryptionAlgorithm(name), isSigningAlgorithm(name)]).toEqual([false, false])
  })
})
