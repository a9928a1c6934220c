import { isMinionId, type MinionId } from '../../base/minion-id.ts'
import type { Sender } from '../../channel/request-server.ts'
import { noteDecision } from '../decisions.ts'
import type { WorkerRoom } from '../room.ts'

/** The minion that has proved to be who it says; undefined for all else. */
export async function provenSender(
  room: WorkerRoom,
  act: 'peer' | 'peer_run',
  { id, verified }: Sender,
): Promise<MinionId | undefined> {
  if (verified && isMinionId(id)) return id
  const about = { act, user: id ?? '', claimed: true, by: 'minion' } as const
  await noteDecision(room, { ...about, verdict: 'refused', reason: 'It has not proved who it is.' })
  return undefined
}

/** The same, with a request that has not come before. */
export async function senderOf(
  room: WorkerRoom,
  act: 'peer' | 'peer_run',
  sender: Sender,
): Promise<MinionId | undefined> {
  const id = await provenSender(room, act, sender)
  if (id === undefined || (await room.replays.firstTime(sender.fingerprint))) return id
  room.log.debug(`A request of ${id} came a second time; nothing is done.`)
  return undefined
}
