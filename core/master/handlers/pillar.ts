import { type EncryptedHandler, PlainReply, type Sender } from '../../channel/request-server.ts'
import { encodeNetwork } from '../../codec/index.ts'
import { SymmetricKey } from '../../crypto/index.ts'
import { tags } from '../../events/index.ts'
import { isRecord } from '../../wire/bytes.ts'
import type { WorkerRoom } from '../room.ts'

/** A request that is sent again is answered again, but old grains do not come back with it. */
async function keep(
  room: WorkerRoom,
  sender: Sender,
  grains: unknown,
  pillar: Record<string, unknown>,
): Promise<void> {
  const { id, verified, fingerprint } = sender
  if (!id || !verified || !isRecord(grains) || !room.config.minion_data_cache) return
  if (!(await room.replays.firstTime(fingerprint))) return
  await room.minions.save(id, { grains: { ...grains, id }, pillar })
  if (room.config.minion_data_cache_events) {
    room.fire(tags.minionRefresh(id), { 'Minion data cache refresh': id })
  }
}

/**
 * `_pillar` (wire protocol §7.3): an empty pillar, sealed for the minion and signed for this request. Its grains are
 * kept for targeting, if the sender has proved to be the minion it names.
 */
export function pillarHandler(room: WorkerRoom): EncryptedHandler {
  return async (load, sender) => {
    const { id, version, algorithms } = sender
    const key = id ? await room.publicKey(id) : undefined
    if (!id || !key) return new PlainReply({ error: 'AES key not found' })
    if (version >= 2 && typeof load.nonce !== 'string') {
      return new PlainReply({ error: 'Nonce not included in request' })
    }
    const pillar = {}
    await keep(room, sender, load.grains, pillar)
    const once = SymmetricKey.generate()
    const wrapped = key.encrypt(Buffer.from(once.text), algorithms.encryption)
    const data = encodeNetwork({ key: wrapped, pillar, nonce: load.nonce })
    const signed = { data, sig: room.masterKey.sign(data, algorithms.signing) }
    return new PlainReply({ key: wrapped, pillar: once.encrypt(encodeNetwork(signed)) })
  }
}
