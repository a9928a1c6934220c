import { type PrivateKey, SymmetricKey } from '../crypto/index.ts'

/** Returns the session key of a minion, by its id and the fingerprint of its accepted key. */
export type DeriveSession = (id: string, owner: string) => SymmetricKey

const MAX_CACHED_KEYS = 5_000

/**
 * Session keys that several masters with the same keys make alike without telling each other: derived from their private key, which no
 * minion has, and from the present AES key, so that they end with it.
 */
export function derivedSessions(
  masterKey: PrivateKey,
  aesKeys: { readonly current: SymmetricKey },
): DeriveSession {
  const derived = new Map<string, SymmetricKey>()
  let aes: SymmetricKey | undefined
  return (id, owner) => {
    if (aes !== aesKeys.current || derived.size >= MAX_CACHED_KEYS) derived.clear()
    aes = aesKeys.current
    const about = `${owner} ${id}`
    const key =
      derived.get(about) ?? SymmetricKey.derive(masterKey.pem, `salt-ts session ${aes.digest()} ${about}`)
    derived.set(about, key)
    return key
  }
}
