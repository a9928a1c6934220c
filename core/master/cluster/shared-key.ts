import { isRecord } from '../../base/record.ts'
import type { AesKeys } from '../../channel/aes-keys.ts'
import { SymmetricKey } from '../../crypto/index.ts'
import type { Replicated } from './replica.ts'

/** The AES key of the minions, where several masters serve a minion over one connection. */
export interface SharedKey extends Replicated {
  /** Called when this master has a new key. With `revoke` the one before is refused from now on. */
  rotated(revoke: boolean): void
}

/** `adopt` makes the key of another master the key of this one. */
export function sharedKey(aesKeys: AesKeys, adopt: (aes: string, revoke: boolean) => void): SharedKey {
  let present = { aes: aesKeys.current.text, revoke: false }
  let hasChanged = true
  return {
    name: 'aes',
    isVolatile: true,
    rotated(revoke) {
      present = { aes: aesKeys.current.text, revoke }
      hasChanged = true
    },
    async changed(all) {
      const ids = hasChanged || all ? ['key'] : []
      hasChanged = false
      return ids
    },
    read: async () => present,
    async write(_, value) {
      if (!isRecord(value) || typeof value.aes !== 'string') return present
      present = { aes: SymmetricKey.parse(value.aes).text, revoke: value.revoke === true }
      adopt(present.aes, present.revoke)
      return present
    },
  }
}
