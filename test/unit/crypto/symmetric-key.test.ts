import { createCipheriv, createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newNonce, SymmetricKey } from '../../../core/crypto/index.ts'

const key = SymmetricKey.generate()
const message = Buffer.from([0x81, 0xa1, 0x61, 0x01])

describe('a symmetric key', () => {
  test('is 76 characters of text, new each time', () => {
    expect(key.text).toMatch(/^[A-Za-z0-9+/]{75}=$/)
    expect(SymmetricKey.generate().text).not.toBe(key.text)
    expect(SymmetricKey.parse(key.text).digest()).toBe(key.digest())
  })

  test.each([
    ['nothing', ''],
    ['55 bytes', Buffer.alloc(55).toString('base64')],
    ['57 bytes', Buffer.alloc(57).toString('base64')],
    ['a line end after it', `${key.text}\n`],
    ['other characters', `${key.text.slice(0, 70)}-_~ !=`],
    ['no text', null],
  ])('is not read from %s', (_, text) => {
    expect(() => SymmetricKey.parse(text as string)).toThrowError(
      expect.objectContaining({ code: 'KEY_INVALID' }),
    )
  })

  test('shows nothing of its value when it is logged', () => {
    expect(inspect(key, { depth: 9, showHidden: true }) + JSON.stringify(key)).not.toContain(
      key.text.slice(0, 10),
    )
  })
})

describe('an envelope', () => {
  test('gives the message back, with and without nonce, whatever its size', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, isReply) => {
        const nonce = isReply ? newNonce() : undefined
        expect(key.decrypt(key.encrypt(bytes, nonce), nonce)).toEqual(Buffer.from(bytes))
      }),
    )
  })

  test('is different each time', () => {
    expect(key.encrypt(message)).not.toEqual(key.encrypt(message))
  })

  test('does not open with another key, another nonce, or the wrong length', () => {
    const sealed = key.encrypt(message, newNonce())
    expect(SymmetricKey.generate().decrypt(sealed)).toBeUndefined()
    expect(key.decrypt(sealed, newNonce())).toBeUndefined()
    for (let size = 0; size < sealed.length; size++)
      expect(key.decrypt(sealed.subarray(0, size))).toBeUndefined()
  })

  test('does not open if a nonce is expected and missing', () => {
    expect(key.decrypt(key.encrypt(message), newNonce())).toBeUndefined()
    expect(key.decrypt(key.encrypt(Buffer.alloc(0)), newNonce())).toBeUndefined()
  })

  test('does not open with any bit changed', () => {
    const sealed = key.encrypt(message)
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3] = changed[bit >> 3]! ^ (1 << (bit & 7))
      expect(key.decrypt(changed)).toBeUndefined()
    }
  })

  test('without the marker counts as an empty map', () => {
    expect(key.decrypt(sealedBy('no marker'))).toEqual(Buffer.from([0x80]))
    expect(key.decrypt(sealedBy(''))).toEqual(Buffer.from([0x80]))
  })

  test.each([0x00, 0x11, 0xff])('with a right MAC over wrong padding (%d) does not open', (last) => {
    const block = Buffer.alloc(16, 'x')
    block[15] = last
    expect(key.decrypt(sealedBy(block, false))).toBeUndefined()
  })

  test('with a right MAC over no block at all does not open', () => {
    const { mac } = keys()
    for (const body of [Buffer.alloc(0), Buffer.alloc(16), Buffer.alloc(17)]) {
      expect(
        key.decrypt(Buffer.concat([body, createHmac('sha256', mac).update(body).digest()])),
      ).toBeUndefined()
    }
  })
})

function keys(): { cipher: Buffer; mac: Buffer } {
  const raw = Buffer.from(key.text, 'base64')
  return { cipher: raw.subarray(0, 24), mac: raw.subarray(24) }
}

/** An envelope with any plain bytes, as only an owner of the key can make it. */
function sealedBy(plain: string | Buffer, isPadded = true): Buffer {
  const iv = Buffer.alloc(16, 7)
  const cipher = createCipheriv('aes-192-cbc', keys().cipher, iv).setAutoPadding(isPadded)
  const body = Buffer.concat([iv, cipher.update(Buffer.from(plain)), cipher.final()])
  return Buffer.concat([body, createHmac('sha256', keys().mac).update(body).digest()])
}
