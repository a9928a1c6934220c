import { sessionToMaster } from '../../channel/session-to-master.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { SymmetricKey } from '../../crypto/index.ts'
import type { OpenSession } from '../../keys/session-keys.ts'

/** Whether a minion has one connection to several masters, so that any of them may get its next request. */
export const sharesConnections = ({ cluster_id, transport }: MasterConfig): boolean =>
  cluster_id !== undefined && transport === 'nats'

/** Return a function that replaces the key of a session by the one for requests to the master of this name. */
export function requestsTo(name: string) {
  const keys = new WeakMap<SymmetricKey, SymmetricKey>()
  return (session: OpenSession | undefined): OpenSession | undefined => {
    if (!session) return undefined
    const key = keys.get(session.key) ?? sessionToMaster(session.key, name)
    keys.set(session.key, key)
    return { ...session, key }
  }
}
