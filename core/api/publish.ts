/**
 * The clients that publish jobs: `local`, `local_async`, `local_subset`, `local_batch`. Returns come from the event
 * bus.
 */

import { untyped } from '../author/calls.ts'
import type { TargetExpression } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import { hasReturned, type MinionResult, type PublishRequest, type Run } from '../client/local/contract.ts'
import { LocalClient } from '../client/local/local-client.ts'
import type { LocalChunk } from './chunk.ts'
import type { ApiCall } from './clients.ts'

type Returns = Record<string, unknown>

/** Salt's defaults for `local_subset` and `local_batch`. */
const DEFAULT_SUBSET_SIZE = 3
const DEFAULT_BATCH_SIZE = '10%'

/** Run `local`: return a map of minion id → return, false for a minion that did not return. */
export async function publishAndWait(call: ApiCall): Promise<Returns> {
  const { signal } = call
  const chunk = localChunkOf(call)
  if (chunk.batch !== undefined)
    throw new SaltError('INVALID_ARGUMENTS', "'batch' needs the client 'local_batch'; nothing was sent.")
  const client = clientFor(call)
  return emptyIfNoMatch({}, call, async () =>
    gather(await client.cmdIter({ ...requestOf(chunk, call), signal }), call),
  )
}

/** Run `local_async`: return the job id and its minions, an empty map if the target matches no minion. */
export function publishAsync(call: ApiCall): Promise<object> {
  return emptyIfNoMatch<object>({}, call, async () => {
    const { jid, minions, missing, delivery } = await clientFor(call).runJob(
      requestOf(localChunkOf(call), call),
    )
    const waiting = delivery?.waiting ?? []
    return {
      jid,
      minions,
      ...(missing.length > 0 && { missing }),
      ...(waiting.length > 0 && { waiting }),
    }
  })
}

/** Run `local_subset`: as `local`, on minions chosen at random. */
export function publishToSubset(call: ApiCall): Promise<Returns> {
  const { signal } = call
  const chunk = localChunkOf(call)
  const client = clientFor(call)
  return emptyIfNoMatch({}, call, async () => {
    const size = chunk.subset ?? DEFAULT_SUBSET_SIZE
    const chosen = await client.chooseSubset({ ...requestOf(chunk, call), signal }, size)
    return gather(await client.cmdIter(chosen), call)
  })
}

/** Run `local_batch`: return one map per minion, in the order they finish. */
export function publishInBatches(call: ApiCall): Promise<Returns[]> {
  const { context, signal } = call
  const chunk = localChunkOf(call)
  return emptyIfNoMatch<Returns[]>([], call, async () => {
    const { batch_wait, failhard } = chunk
    const settings = { batchWait: batch_wait, failhard: failhard === true }
    const size = chunk.batch ?? DEFAULT_BATCH_SIZE
    const run = await clientFor(call).cmdBatch(requestOf(chunk, call), size, settings)
    context.stopping.addEventListener('abort', run.stop, { once: true })
    // This process publishes the waves, so the batch runs to its end even if the client disconnects.
    const all = drain(run, chunk).finally(() => context.stopping.removeEventListener('abort', run.stop))
    return orAbort(signal, all)
  })
}

async function drain(run: Run, { full_return }: LocalChunk): Promise<Returns[]> {
  const items: Returns[] = []
  for await (const result of run) items.push({ [result.id]: itemOf(result, full_return === true) })
  return items
}

/** Wait for the work, or reject with the reason of the signal if that is aborted first. */
function orAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

async function gather(run: Run, { chunk }: ApiCall): Promise<Returns> {
  const returns: Returns = {}
  for await (const result of run) returns[result.id] = itemOf(result, chunk.full_return === true)
  return returns
}

/**
 * Return a result in Salt's form: false if the minion did not return, a sentence if it has no key. With
 * `full_return`, add `retcode`, `jid` and `out`.
 */
function itemOf(result: MinionResult, isFull: boolean): unknown {
  if (hasReturned(result)) {
    const { return: ret, retcode, jid, out } = result
    return isFull ? { ret, retcode, jid, ...(out !== undefined && { out }) } : ret
  }
  const { reason, jid, jobState } = result
  if (isFull) return { ret: reason, out: 'no_return', retcode: 1, jid, failed: true, state: jobState }
  return jobState === 'key_not_accepted' ? reason : false
}

const clientFor = ({ context, auth }: ApiCall): LocalClient =>
  new LocalClient(context.config, context.link, auth, context.log)

/** Return `empty` for a target that matches no minion: that is not an error in Salt. */
async function emptyIfNoMatch<T>(empty: T, { signal }: ApiCall, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    signal.throwIfAborted() // without waiting, no minion was found either
    if (SaltError.is(error) && error.code === 'NO_MINIONS_MATCHED') return empty
    throw error
  }
}

/** Return the chunk of a call; the schema of lowstates has checked it. */
const localChunkOf = ({ chunk }: ApiCall): LocalChunk => chunk as LocalChunk

function requestOf(chunk: LocalChunk, { context }: ApiCall): PublishRequest {
  return {
    tgt: targetOf(chunk),
    fun: Array.isArray(chunk.fun) ? chunk.fun.map(untyped) : untyped(chunk.fun),
    tgtType: chunk.tgt_type,
    timeout: chunk.timeout,
    gatherJobTimeout: chunk.gather_job_timeout,
    delimiter: chunk.delimiter,
    check: chunk.check,
    deliverWithin: chunk.deliver_within ?? context.config.deliver_within,
    metadata: chunk.metadata,
    retKwargs: chunk.ret_kwargs,
    moduleExecutors: chunk.module_executors,
    executorOpts: chunk.executor_opts,
    ...(chunk.arg && { arg: chunk.arg }),
    ...(chunk.kwarg && { kwarg: chunk.kwarg }),
    ...(chunk.ret !== undefined && { ret: [chunk.ret].flat().join(',') }),
    ...(chunk.jid !== undefined && { jid: chunk.jid }),
    ...(chunk.ret_config !== undefined && { retConfig: chunk.ret_config }),
  }
}

/** Split the text of a list target; other targets stay as they are. */
function targetOf({ tgt, tgt_type }: LocalChunk): TargetExpression {
  const isTextList = tgt_type === 'list' && typeof tgt === 'string'
  return isTextList ? tgt.split(',').map((id) => id.trim()) : tgt
}
