import type { EncryptedHandler } from '../../channel/request-server.ts'
import { tags } from '../../events/index.ts'
import { auditEntry } from '../../keys/key-audit.ts'
import type { WorkerRoom } from '../room.ts'

/** `revoke_auth`: a minion gives up its own key (wire protocol §7.2). */
export function revokeAuthHandler(room: WorkerRoom): EncryptedHandler {
  return async (load, { id, verified, fingerprint }) => {
    if (!id || !verified) return false
    const { allow_minion_key_revoke, preserve_minion_cache, rotate_aes_key } = room.config
    if (!allow_minion_key_revoke) return load
    if (!(await room.replays.firstTime(fingerprint))) return false
    const changes = await room.keys.remove([id])
    await room.keyAudit.record(
      changes.map((change) => auditEntry(change, 'revoke_auth', room.config.hash_type)),
    )
    if (!(load.preserve_minion_cache || preserve_minion_cache)) await room.minions.remove(id)
    room.fire(tags.key, { result: true, act: 'delete', id })
    if (rotate_aes_key) await room.requestRotation()
    return true
  }
}
