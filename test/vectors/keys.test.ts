import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fingerprint, PrivateKey, PublicKey } from '../../core/crypto/index.ts'
import { vectors } from '../harness/vectors.ts'

const keys = vectors('keys')
const owners = ['master', 'minion_wire1', 'minion_wire2', 'master_sign']

describe('keys written by Salt', () => {
  test.each(owners)('the private and the public key of %s belong together', (owner) => {
    const pair = PrivateKey.parse(keys[`${owner}_private_pem`])
    expect(pair.publicKey.equals(PublicKey.parse(keys[`${owner}_public_pem`]))).toBe(true)
    expect(pair.publicKey.pem).toBe(keys[`${owner}_public_pem`].trim())
  })

  test.each(owners)('the private key of %s keeps its text', (owner) => {
    expect(PrivateKey.parse(keys[`${owner}_private_pem`]).pem).toBe(keys[`${owner}_private_pem`].trim())
  })

  test.each(Object.entries<string>(keys.fingerprints_sha256))(
    'the fingerprint of %s is %s',
    (owner, print) => {
      const pem = keys[`${owner}_public_pem`] ?? keys[`minion_${owner}_public_pem`]
      expect(fingerprint(pem, 'sha256')).toBe(print)
      expect(fingerprint(`${pem}\n`, 'sha256')).toBe(print)
      expect(fingerprint(pem.replaceAll('\n', '\r\n'), 'sha256')).toBe(print)
    },
  )

  test.each(Object.entries<string>(keys.minion_id_sha1_topic))(
    'the topic of %s is the hash of its UTF-8',
    (id, topic) => {
      expect(createHash('sha1').update(id).digest('hex')).toBe(topic)
    },
  )

  test.each(Object.entries<string>(keys.minion_event_socket_suffix_sha256_10))(
    'the event sockets of %s are named after %s',
    (id, suffix) => {
      expect(createHash('sha256').update(id).digest('hex').slice(0, 10)).toBe(suffix)
    },
  )
})
