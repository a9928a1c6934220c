import { isMinionId } from '../../base/minion-id.ts'
import type { EncryptedHandler } from '../../channel/request-server.ts'
import { fileRequests, receiveFile } from '../../fileserver/index.ts'
import type { WorkerContext } from '../worker/context.ts'

/** Handle requests for files (wire protocol §7.2, §7.4). Every accepted minion may read them. */
export function fileHandlers(context: WorkerContext): [string, EncryptedHandler][] {
  const reading = [...fileRequests(context.files, context.config)].map(
    ([cmd, answer]): [string, EncryptedHandler] => [cmd, (load) => answer(load)],
  )
  return [...reading, ['_file_recv', fileRecvHandler(context)]]
}

/**
 * `_file_recv`: a minion writes to its own folder only. If a file is refused, a minion that sent `reasons` (our own flag)
 * gets the reason, others get false.
 */
function fileRecvHandler({ config, log, replays }: WorkerContext): EncryptedHandler {
  return async (load, { id, verified, fingerprint }) => {
    if (!verified || !isMinionId(id)) return false
    const answer = await receiveFile(load, id, { config, log, isNew: () => replays.firstTime(fingerprint) })
    return answer === true || (load.reasons === true && answer)
  }
}
