import type { EncryptedHandler } from '../../channel/request-server.ts'
import { tags } from '../../events/index.ts'
import { auditEntry } from '../../keys/key-audit.ts'
import type { WorkerContext } from '../worker/context.ts'

/** `revoke_auth`: delete the key of the minion that requests it (wire protocol §7.2). */
export function revokeAuthHandler(context: WorkerContext): EncryptedHandler {
  return async (load, { id, verified, fingerprint }) => {
    if (!id || !verified) return false
    const { allow_minion_key_revoke, preserve_minion_cache, rotate_aes_key } = context.config
    if (!allow_minion_key_revoke) return load
    if (!(await context.replays.firstTime(fingerprint))) return false
    const changes = await context.keys.remove([id])
    await context.jobs.deliveries.cancelFor([id])
    await context.keyAudit.record(
      changes.map((change) => auditEntry(change, 'revoke_auth', context.config.hash_type)),
    )
    if (!(load.preserve_minion_cache || preserve_minion_cache)) {
      await context.minions.remove(id)
      await context.mine.remove(id)
    }
    context.fire(tags.key, { result: true, act: 'delete', id })
    if (rotate_aes_key) await context.requestRotation()
    return true
  }
}
