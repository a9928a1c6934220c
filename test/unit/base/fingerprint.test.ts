import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fingerprint } from '../../../core/crypto/index.ts'

const pem = '-----BEGIN PUBLIC KEY-----\nAAAA\nBBBB\n-----END PUBLIC KEY-----'

describe('a fingerprint', () => {
  test.each(['md5', 'sha1', 'sha256', 'sha512'])(
    'is the %s of the lines between header and footer',
    (hash) => {
      const digest = createHash(hash).update('AAAA\nBBBB\n').digest('hex')
      expect(fingerprint(pem, hash).replaceAll(':', '')).toBe(digest)
      expect(fingerprint(pem, hash)).toMatch(/^([0-9a-f]{2}:)+[0-9a-f]{2}$/)
    },
  )

  test('does not depend on line ends and white space around the text', () => {
    expect(fingerprint(` ${pem.replaceAll('\n', '\r\n')}\r\n`, 'sha256')).toBe(fingerprint(pem, 'sha256'))
  })

  test('with an unknown hash is refused in a sentence that names it', () => {
    expect(() => fingerprint(pem, 'sha257')).toThrowError(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining('"sha257"') }),
    )
  })
})
