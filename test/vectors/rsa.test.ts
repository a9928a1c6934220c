import { constants, createPublicKey, publicDecrypt } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  type EncryptionAlgorithm,
  PrivateKey,
  PublicKey,
  type SigningAlgorithm,
} from '../../core/crypto/index.ts'
import { restoreBlock, unpad } from '../../core/crypto/x931.ts'
import { bytes, vectors } from '../harness/vectors.ts'

interface Sealed {
  key: string
  message_b64: string
  signature_b64?: string
  recovered_b64?: string
  padded_block_hex?: string
}

interface Rsa {
  x931: Sealed[]
  x931_invalid: { name: string; verify_with: string; signature_b64: string }[]
  oaep: { algorithm: EncryptionAlgorithm; key: string; plaintext: string; ciphertext_b64: string }[]
  pkcs1v15: { algorithm: SigningAlgorithm; key: string; message_b64: string; signature_b64: string }[]
}

const rsa = vectors<Rsa>('rsa')
const keys = vectors('keys')

const privateKey = (name: string) => PrivateKey.parse(keys[`${name}_private_pem`])
const publicKey = (name: string) => PublicKey.parse(keys[`${name}_public_pem`])

describe('RSA operations recorded from Salt', () => {
  const sealed = rsa.x931.filter((row) => row.signature_b64 !== undefined)
  const unsealable = rsa.x931.filter((row) => row.signature_b64 === undefined)

  test.each(sealed)('$key seals the message $message_b64 to the same bytes', (row) => {
    expect(privateKey(row.key).seal(bytes(row.message_b64)).toString('base64')).toBe(row.signature_b64)
  })

  test.each(sealed)('the public key of $key recovers the message $message_b64', (row) => {
    const recovered = publicKey(row.key).recover(bytes(row.signature_b64 ?? ''))
    expect(recovered).toEqual(bytes(row.recovered_b64 ?? ''))
  })

  test.each(sealed)('the block under the seal of $key is padded as X9.31 says ($message_b64)', (row) => {
    const modulus = modulusOf(keys[`${row.key}_public_pem`])
    const block = restoreBlock(open(row.key, bytes(row.signature_b64 ?? '')), modulus)
    expect(block.toString('hex')).toBe(row.padded_block_hex)
    expect(unpad(block)).toEqual(bytes(row.message_b64))
  })

  test.each(unsealable)('$key does not seal an empty message, which could not be recovered', (row) => {
    expect(() => privateKey(row.key).seal(bytes(row.message_b64))).toThrow(RangeError)
  })

  test.each(rsa.x931_invalid)('a damaged seal is not recovered: $name', (row) => {
    expect(publicKey(row.verify_with).recover(bytes(row.signature_b64))).toBeUndefined()
  })

  test.each(rsa.oaep)('$algorithm: $key decrypts a message that was encrypted for it', (row) => {
    const plain = privateKey(row.key).decrypt(bytes(row.ciphertext_b64), row.algorithm)
    expect(plain?.toString()).toBe(row.plaintext)
  })

  test.each(rsa.oaep)(
    '$algorithm: $key decrypts a message that we encrypt, under that algorithm only',
    (row) => {
      const other = row.algorithm === 'OAEP-SHA1' ? 'OAEP-SHA224' : 'OAEP-SHA1'
      const sealed = publicKey(row.key).encrypt(Buffer.from(row.plaintext), row.algorithm)
      expect(privateKey(row.key).decrypt(sealed, row.algorithm)?.toString()).toBe(row.plaintext)
      expect(privateKey(row.key).decrypt(sealed, other)).toBeUndefined()
    },
  )

  test.each(rsa.pkcs1v15)('$algorithm: $key signs $message_b64 with the same bytes', (row) => {
    const signature = privateKey(row.key).sign(bytes(row.message_b64), row.algorithm)
    expect(signature.toString('base64')).toBe(row.signature_b64)
  })

  test.each(rsa.pkcs1v15)('$algorithm: the signature of $key over $message_b64 verifies', (row) => {
    const [message, signature] = [bytes(row.message_b64), bytes(row.signature_b64)]
    expect(publicKey(row.key).verify(message, signature, row.algorithm)).toBe(true)
    expect(publicKey(row.key).verify(Buffer.concat([message, message]), signature, row.algorithm)).toBe(false)
    expect(publicKey('minion_wire2').verify(message, signature, row.algorithm)).toBe(false)
  })
})

function open(name: string, sealed: Buffer): Buffer {
  return publicDecrypt({ key: keys[`${name}_public_pem`], padding: constants.RSA_NO_PADDING }, sealed)
}

function modulusOf(pem: string): bigint {
  const { n = '' } = createPublicKey(pem).export({ format: 'jwk' })
  return BigInt(`0x${Buffer.from(n, 'base64url').toString('hex')}`)
}
