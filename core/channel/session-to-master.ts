import { SymmetricKey } from '../crypto/index.ts'

/**
 * Return the key of the requests of a minion to one of several masters that know its session. A request to one that somebody
 * replays to another cannot be decrypted there.
 */
export const sessionToMaster = (session: SymmetricKey, master: string): SymmetricKey =>
  SymmetricKey.derive(session.text, `salt-ts requests to ${master}`)
