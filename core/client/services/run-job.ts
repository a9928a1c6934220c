import { untyped } from '../../author/calls.ts'
import type { RunRequest, RunResult } from '../../author/context.ts'
import { type AnyRequest, hasReturned } from '../local/contract.ts'
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
  }: RunRequest & Pick<AnyRequest, 'fun' | 'arg' | 'kwarg'>,
  client: () => Promise<LocalClient>,
  signal: AbortSignal,
): AsyncGenerator<RunResult> {
  const results = await (await client()).cmdIter({
    tgt,
    fun: typeof fun === 'string' ? untyped(fun) : fun.map(untyped),
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
    yield hasReturned(result)
      ? { ...result }
      : { id: result.id, state: result.state, return: undefined, missing: result.reason }
}
