import type { MasterServices } from '../../author/context.ts'
import type { LocalClient } from '../local/local-client.ts'
import { abortable } from './abortable.ts'

/** Run a job on minions for a runner, until `signal` is aborted. Yields the return of each minion, or why there is none. */
export async function* runJobForRunner(
  {
    tgt,
    fun,
    arg,
    kwarg,
    tgtType,
    timeout,
    gatherJobTimeout,
    ret,
    jid,
    deliverWithin,
  }: Parameters<MasterServices['run']>[0],
  client: () => Promise<LocalClient>,
  signal: AbortSignal,
): ReturnType<MasterServices['run']> {
  const results = await (await client()).cmdIter({
    tgt,
    fun,
    check: false, // a runner reads the refusal of each minion in its return
    ...(arg && { arg }),
    ...(kwarg && { kwarg }),
    ...(ret && { ret }),
    ...(jid && { jid }),
    ...(tgtType && { tgtType }),
    ...(deliverWithin !== undefined && { deliverWithin }),
    ...(timeout !== undefined && { timeout }),
    ...(gatherJobTimeout !== undefined && { gatherJobTimeout }),
  })
  for await (const result of abortable(results, signal))
    yield result.state === 'returned' ? result : { id: result.id, return: undefined, missing: result.reason }
}
