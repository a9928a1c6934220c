/** The clients that publish jobs: through the request port, their returns awaited on the event bus. */
import { SaltError } from '../base/errors.ts'
import type { MinionResult, PublishRequest, Run } from '../client/contract.ts'
import { LocalClient } from '../client/local-client.ts'
import type { Chunk } from './chunk.ts'
import type { Call } from './clients.ts'

type Returns = Record<string, unknown>

/** How many minions Salt's `local_subset` takes, and how many at a time its `local_batch`. */
const SUBSET = 3
const BATCH = '10%'

/** `local`: id → return of every minion, false of one that did not. */
export async function publishAndWait(call: Call): Promise<Returns> {
  const { chunk, signal } = call
  if (chunk.batch !== undefined)
    throw new SaltError('INVALID_ARGUMENTS', "batch is there for the client 'local_batch'; nothing was sent.")
  const client = clientFor(call)
  return orNobody({}, call, async () => gather(await client.cmdIter({ ...requestOf(chunk), signal }), call))
}

/** `local_async`: the job; an empty map if there is none, because the target is nobody. */
export function publishOnly(call: Call): Promise<object> {
  return orNobody<object>({}, call, async () => {
    const { jid, minions, missing } = await clientFor(call).runJob(requestOf(call.chunk))
    return { jid, minions, ...(missing.length > 0 && { missing }) }
  })
}

/** `local_subset`: as `local`, of a random choice. */
export function publishToSome(call: Call): Promise<Returns> {
  const { chunk, signal } = call
  const client = clientFor(call)
  return orNobody({}, call, async () => {
    const size = typeof chunk.subset === 'number' ? chunk.subset : SUBSET
    const chosen = await client.chooseSubset({ ...requestOf(chunk), signal }, size)
    return gather(await client.cmdIter(chosen), call)
  })
}

/** `local_batch`: a map for each minion, in the order they are done. */
export function publishInBatches(call: Call): Promise<Returns[]> {
  const { room, chunk, signal } = call
  return orNobody<Returns[]>([], call, async () => {
    const { batch_wait, failhard } = chunk
    const settings = { batchWait: batch_wait as number | undefined, failhard: failhard === true }
    const size = (chunk.batch as string | number | undefined) ?? BATCH
    const run = await clientFor(call).cmdBatch(requestOf(chunk), size, settings)
    room.stopping.addEventListener('abort', run.stop, { once: true })
    // It is issued from here wave by wave: whether somebody waits or not, it is gone through to the end.
    const all = drain(run, chunk).finally(() => room.stopping.removeEventListener('abort', run.stop))
    return unless(signal, all)
  })
}

async function drain(run: Run, { full_return }: Chunk): Promise<Returns[]> {
  const items: Returns[] = []
  for await (const result of run) items.push({ [result.id]: shown(result, full_return === true) })
  return items
}

/** The work, unless the signal is aborted first; then its reason. */
function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

async function gather(run: Run, { chunk }: Call): Promise<Returns> {
  const returns: Returns = {}
  for await (const result of run) returns[result.id] = shown(result, chunk.full_return === true)
  return returns
}

/** As Salt has it: false where nothing came, the sentence where there is no key; in full `out` and `retcode`, too. */
function shown(result: MinionResult, isFull: boolean): unknown {
  if (result.state === 'returned') {
    const { return: ret, retcode, jid, out } = result
    return isFull ? { ret, retcode, jid, ...(out !== undefined && { out }) } : ret
  }
  const { reason, jid, jobState } = result
  if (isFull) return { ret: reason, out: 'no_return', retcode: 1, jid, failed: true, state: jobState }
  return jobState === 'key_not_accepted' ? reason : false
}

const clientFor = ({ room, auth }: Call): LocalClient =>
  new LocalClient(room.config, room.link, auth, room.log)

/** A target that means nobody is no error to Salt. */
async function orNobody<T>(empty: T, { signal }: Call, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    signal.throwIfAborted() // who was not waited for is nobody, too
    if (SaltError.is(error) && error.code === 'NO_MINIONS_MATCHED') return empty
    throw error
  }
}

/** Checked by the schema of chunks. */
interface LocalChunk {
  readonly tgt: string | readonly string[]
  readonly fun: string | readonly string[]
  readonly arg?: readonly unknown[]
  readonly kwarg?: Readonly<Record<string, unknown>>
  readonly tgt_type?: string
  readonly timeout?: number
  readonly gather_job_timeout?: number
  readonly ret?: string
  readonly jid?: string
  readonly delimiter?: string
  readonly metadata?: unknown
  readonly ret_config?: string
  readonly ret_kwargs?: unknown
  readonly module_executors?: unknown
  readonly executor_opts?: unknown
  readonly check?: boolean
}

function requestOf(checked: Chunk): PublishRequest {
  const chunk = checked as unknown as LocalChunk
  return {
    tgt: targetOf(chunk),
    fun: chunk.fun,
    tgtType: chunk.tgt_type,
    timeout: chunk.timeout,
    gatherJobTimeout: chunk.gather_job_timeout,
    delimiter: chunk.delimiter,
    check: chunk.check,
    metadata: chunk.metadata,
    retKwargs: chunk.ret_kwargs,
    moduleExecutors: chunk.module_executors,
    executorOpts: chunk.executor_opts,
    ...(chunk.arg && { arg: chunk.arg }),
    ...(chunk.kwarg && { kwarg: chunk.kwarg }),
    ...(chunk.ret !== undefined && { ret: chunk.ret }),
    ...(chunk.jid !== undefined && { jid: chunk.jid }),
    ...(chunk.ret_config !== undefined && { retConfig: chunk.ret_config }),
  }
}

/** A list may be one text. */
function targetOf({ tgt, tgt_type }: LocalChunk): unknown {
  const isText = tgt_type === 'list' && typeof tgt === 'string'
  return isText ? tgt.split(',').map((id) => id.trim()) : tgt
}
