import { isMinionId, type MinionId } from '../../base/minion-id.ts'
import type { Sender } from '../../channel/request-server.ts'
import type { WorkerRoom } from '../room.ts'

/** The minion that has proved to be who it says, with a request that has not come before; undefined for all else. */
export async function senderOf(
  { replays, log }: Pick<WorkerRoom, 'replays' | 'log'>,
  { id, verified, fingerprint }: Sender,
): Promise<MinionId | undefined> {
  if (!verified || !isMinionId(id)) return undefined
  if (await replays.firstTime(fingerprint)) return id
  log.debug(`A request of ${id} came a second time; nothing is done.`)
  return undefined
}
