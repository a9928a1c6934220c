import { isRecord } from '../../base/record.ts'
import { type EncryptedHandler, PlainReply, type Sender } from '../../channel/request-server.ts'
import { encodeNetwork } from '../../codec/index.ts'
import { SymmetricKey } from '../../crypto/index.ts'
import { tags } from '../../events/index.ts'
import type { WorkerContext } from '../worker/context.ts'

/** Store the minion's grains and pillar for targeting. A replayed request is answered, but does not bring old grains back. */
async function storeMinionData(
  context: WorkerContext,
  sender: Sender,
  grains: unknown,
  pillar: Record<string, unknown>,
): Promise<void> {
  const { id, verified, fingerprint } = sender
  if (!id || !verified || !isRecord(grains) || !context.config.minion_data_cache) return
  if (!(await context.replays.firstTime(fingerprint))) return
  await context.minions.save(id, { grains: { ...grains, id }, pillar })
  if (context.config.minion_data_cache_events) {
    context.fire(tags.minionRefresh(id), { 'Minion data cache refresh': id })
  }
}

/**
 * `_pillar` (wire protocol §7.3): answer with an empty pillar, encrypted for the minion and signed for this request. The
 * grains in the request are stored for targeting if the sender's key has proved its id.
 */
export function pillarHandler(context: WorkerContext): EncryptedHandler {
  return async (load, sender) => {
    const { id, version, algorithms } = sender
    const key = id ? await context.publicKey(id) : undefined
    if (!id || !key) return new PlainReply({ error: 'AES key not found' })
    if (version >= 2 && typeof load.nonce !== 'string') {
      return new PlainReply({ error: 'Nonce not included in request' })
    }
    const pillar = {}
    await storeMinionData(context, sender, load.grains, pillar)
    const once = SymmetricKey.generate()
    const wrapped = key.encrypt(Buffer.from(once.text), algorithms.encryption)
    const data = encodeNetwork({ key: wrapped, pillar, nonce: load.nonce })
    const signed = { data, sig: context.masterKey.sign(data, algorithms.signing) }
    return new PlainReply({ key: wrapped, pillar: once.encrypt(encodeNetwork(signed)) })
  }
}
