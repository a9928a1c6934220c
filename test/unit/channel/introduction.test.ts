import { expect, test } from 'vitest'
import { AesKeys } from '../../../core/channel/aes-keys.ts'
import { makeIntroduction, readIntroduction } from '../../../core/channel/introduction.ts'
import { makeToken } from '../../../core/channel/token.ts'
import { encodeNetwork } from '../../../core/codec/index.ts'
import { PrivateKey, SymmetricKey } from '../../../core/crypto/index.ts'

const [key, otherKey] = await Promise.all([PrivateKey.generate(2048), PrivateKey.generate(2048)])
const aes = SymmetricKey.generate()
const aesKeys = new AesKeys(aes, 0, Date)
const accepted = (id: string) => (id === 'web1' ? key.publicKey : undefined)
const made = (id: string, token = makeToken(key), by = aes) =>
  readIntroduction(makeIntroduction(id, token, { aes: by, generation: 3 }), aesKeys, accepted)

test('the introduction of a minion is accepted', () => {
  expect(made('web1')).toBe('web1')
})

test.each([
  ['under an id without accepted key', () => made('db1')],
  ['with the token of another key', () => made('web1', makeToken(otherKey))],
  ['without the AES key', () => made('web1', makeToken(key), SymmetricKey.generate())],
  ['under an invalid id', () => made('../web1')],
  ['that is an empty map', () => readIntroduction(encodeNetwork({}), aesKeys, accepted)],
])('an introduction %s is refused', (_, introduce) => {
  expect(introduce()).toBeUndefined()
})
