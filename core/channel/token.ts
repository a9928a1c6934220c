import type { PrivateKey, PublicKey } from '../crypto/index.ts'
import { asBytes } from '../wire/bytes.ts'

const TOKEN_TEXT = Buffer.from('salt')

/** Make the token that proves that a minion holds its private key (wire protocol §7.1). */
export const makeToken = (key: PrivateKey): Buffer => key.seal(TOKEN_TEXT)

/** Whether a token was made with the private key of this public key. */
export function tokenHolds(key: PublicKey | undefined, token: unknown): boolean {
  const sealed = asBytes(token)
  return (sealed && key?.recover(sealed)?.equals(TOKEN_TEXT)) ?? false
}
