import { expect, test } from 'vitest'
import { decode, encodeNetwork } from '../../../core/codec/index.ts'
import { isSignedBy, signMessage } from '../../../core/wire/message-signature.ts'
import { keyPair } from '../../harness/key-pairs.ts'

const load = {
  cmd: '_return',
  id: 'web1',
  return: { text: 'ü', bytes: Buffer.from('text'), raw: Buffer.from([0xff]), n: 1.5 },
}
const overTheWire = (value: unknown) => decode(encodeNetwork(value)) as Record<string, unknown>

test('the signature of a message is valid after transmission, whatever the channel adds', async () => {
  const key = await keyPair('wire1')
  const received = overTheWire({
    ...signMessage(load, key),
    nonce: 'x',
    ts: 12,
    tok: Buffer.from('t'),
    _stamp: 'now',
  })
  expect(isSignedBy(received, key.publicKey)).toBe(true)
})

test('a changed message, another key and a missing signature are invalid', async () => {
  const [key, other] = [await keyPair('wire1'), await keyPair('wire2')]
  const received = overTheWire(signMessage(load, key))
  expect(isSignedBy({ ...received, return: 'else' }, key.publicKey)).toBe(false)
  expect(isSignedBy(received, other.publicKey)).toBe(false)
  expect(isSignedBy(overTheWire(load), key.publicKey)).toBe(false)
  expect(isSignedBy(received, undefined)).toBe(false)
})
