import { type EncryptedHandler, PlainReply } from '../../channel/request-server.ts'
import { encodeNetwork } from '../../codec/index.ts'
import { SymmetricKey } from '../../crypto/index.ts'
import { tags } from '../../events/index.ts'
import { isRecord } from '../../wire/bytes.ts'
import type { WorkerRoom } from '../room.ts'

/**
 * `_pillar` (wire protocol §7.3): an empty pillar, sealed for the minion and signed for this request. Its grains are
 * kept for targeting, if the sender has proved to be the minion it names.
 */
export function pillarHandler(room: WorkerRoom): EncryptedHandler {
  return async (load, { id, verified, version, algorithms }) => {
    const key = id ? await room.publicKey(id) : undefined
    if (!id || !key) return new PlainReply({ error: 'AES key not found' })
    if (version >= 2 && typeof load['nonce'] !== 'string') {
      return new PlainReply({ error: 'Nonce not included in request' })
    }
    const pillar = {}
    const grains = load['grains']
    if (verified && isRecord(grains) && room.config.minion_data_cache) {
      await room.minions.save(id, { grains: { ...grains, id }, pillar })
      if (room.config.minion_data_cache_events) {
        room.fire(tags.minionRefresh(id), { 'Minion data cache refresh': id })
      }
    }
    const once = SymmetricKey.generate()
    const wrapped = key.encrypt(Buffer.from(once.text), algorithms.encryption)
    const data = encodeNetwork({ key: wrapped, pillar, nonce: load['nonce'] })
    const signed = { data, sig: room.masterKey.sign(data, algorithms.signing) }
    return new PlainReply({ key: wrapped, pillar: once.encrypt(encodeNetwork(signed)) })
  }
}
