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

test('a minion that introduces itself is recognised', () => {
  expect(made('web1')).toBe('web1')
})

test.each([
  ['under an id without accepted key', () => made('db1')],
  ['with the token of another key', () => made('web1', makeToken(otherKey))],
  ['without the AES key', () => made('web1', makeToken(key), SymmetricKey.generate())],
  ['under an id that is none', () => made('../web1')],
  ['with anything else', () => readIntroduction(encodeNetwork({}), aesKeys, accepted)],
])('one %s is not', (_, introduce) => {
  expect(introduce()).toBeUndefined()
})
