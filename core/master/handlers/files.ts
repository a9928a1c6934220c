import { isMinionId } from '../../base/minion-id.ts'
import type { EncryptedHandler } from '../../channel/request-server.ts'
import { fileRequests, receiveFile } from '../../fileserver/index.ts'
import type { WorkerRoom } from '../room.ts'

/** Requests about files (wire protocol §7.2, §7.4). Files are for every minion that is accepted. */
export function fileHandlers(room: WorkerRoom): [string, EncryptedHandler][] {
  const reading = [...fileRequests(room.files, room.config)].map(
    ([cmd, answer]): [string, EncryptedHandler] => [cmd, (load) => answer(load)],
  )
  return [...reading, ['_file_recv', fileRecvHandler(room)]]
}

/**
 * `_file_recv`: a minion writes to its own folder only. A minion that asks for `reasons` (ours) is told why a file is not
 * taken, others get false.
 */
function fileRecvHandler({ config, log, replays }: WorkerRoom): EncryptedHandler {
  return async (load, { id, verified, fingerprint }) => {
    if (!verified || !isMinionId(id)) return false
    const answer = await receiveFile(load, id, { config, log, isNew: () => replays.firstTime(fingerprint) })
    return answer === true || (load.reasons === true && answer)
  }
}
