import { decode, encodeLocal, encodeNetwork } from '../codec/index.ts'
import type { PrivateKey, PublicKey } from '../crypto/index.ts'
import { asBytes } from './bytes.ts'

/** Keys that the channel and the event bus add to a load after it is signed. */
const ADDED = new Set(['sig', 'nonce', 'ts', 'tok', '_stamp'])

/** Return the bytes that a minion signs with `minion_sign_messages` (wire protocol §10.3); keys keep their order. */
function signedBytes(load: Readonly<Record<string, unknown>>): Buffer {
  return encodeLocal(Object.fromEntries(Object.entries(load).filter(([key]) => !ADDED.has(key))))
}

/** Salt signs messages with SHA-1, whatever `signing_algorithm` says. */
const ALGORITHM = 'PKCS1v15-SHA1'

/** Sign a load as the receiver decodes it, since the network dialect does not distinguish bytes and text. */
export function signMessage<T extends Readonly<Record<string, unknown>>>(load: T, key: PrivateKey): T {
  const seen = decode(encodeNetwork(load)) as Record<string, unknown>
  return { ...load, sig: key.sign(signedBytes(seen), ALGORITHM) }
}

export function isSignedBy(load: Readonly<Record<string, unknown>>, key: PublicKey | undefined): boolean {
  const signature = asBytes(load.sig)
  return key !== undefined && signature !== undefined && key.verify(signedBytes(load), signature, ALGORITHM)
}
