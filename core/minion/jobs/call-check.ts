import { onlyMaster } from '../../channel/request-channel.ts'
import { callsOf, type PublishedCall } from '../../loader/index.ts'
import { type CallCheckReport, makeCallCheckReport } from '../../wire/catalogue.ts'
import { type JobLoad, readJobLoad } from '../../wire/publication.ts'
import type { RawArguments } from '../../wire/raw-arguments.ts'
import type { MasterConnection } from '../link/master-connection.ts'

export interface CheckSettings {
  readonly id: string
  readonly connection: Pick<MasterConnection, 'request'>
  /**
   * Resolves with the reason why each call would be refused, or null for one that would not; undefined if that cannot be
   * determined.
   */
  check(calls: readonly PublishedCall[]): Promise<CallCheckReport['refusals'] | undefined>
}

/** Answer the request of a master to check calls before it publishes them. `arg` of the request is their `fun` and `arg`. */
export async function answerCheck(
  request: JobLoad,
  words: RawArguments | undefined,
  { id, connection, check }: CheckSettings,
): Promise<void> {
  const [fun, arg] = request.arg
  const load = readJobLoad({ ...request, fun, arg })
  const refusals = load && (await check(callsOf({ ...load, words })))
  if (refusals)
    await connection.request(
      makeCallCheckReport(id, { jid: request.jid, refusals }),
      onlyMaster(request.master_id),
    )
}
