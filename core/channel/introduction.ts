import { isMinionId, type MinionId } from '../base/minion-id.ts'
import { encodeNetwork } from '../codec/index.ts'
import type { PublicKey } from '../crypto/index.ts'
import { readEnvelope, readLoad } from '../wire/envelope.ts'
import type { AesKeys } from './aes-keys.ts'
import type { SignInKeys } from './sign-in-client.ts'
import { tokenHolds } from './token.ts'

/**
 * Make the introduction of a minion on its publish connection (wire protocol §18, TCP transport). A master of Python Salt
 * sends publications for single minions only to those that introduced themselves.
 */
export const makeIntroduction = (
  id: string,
  token: Uint8Array,
  { aes, generation }: Pick<SignInKeys, 'aes' | 'generation'>,
): Buffer =>
  encodeNetwork({ enc: 'aes', load: aes.encrypt(encodeNetwork({ id, tok: token })), version: generation })

/** Read an introduction. Returns the id; undefined unless it was made with the accepted key of that minion. */
export function readIntroduction(
  frame: Uint8Array,
  aesKeys: AesKeys,
  publicKey: (id: MinionId) => PublicKey | undefined,
): MinionId | undefined {
  const envelope = readEnvelope(frame)
  if (envelope.enc !== 'aes') return undefined
  for (const key of aesKeys.accepted()) {
    const message = key.decrypt(envelope.load)
    const { id, tok } = (message && readLoad(message)) || {}
    if (typeof id === 'string' && isMinionId(id) && tokenHolds(publicKey(id), tok)) return id
  }
  return undefined
}
