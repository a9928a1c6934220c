import { setTimeout as delay } from 'node:timers/promises'
import { untyped } from '../author/calls.ts'
import type { Log, TargetExpression } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import type { ReceivedPublication } from '../channel/subscription.ts'
import type { LocalClient, PublishRequest } from '../client/index.ts'

export interface PublishBelowSettings {
  readonly client: Pick<LocalClient, 'runJob'>
  readonly log: Log
  /** Aborts when the syndic closes. */
  readonly signal: AbortSignal
}

/** Time between attempts while the master of this host does not answer, and total time of the attempts. */
const RETRY_MS = 1_000
const MAX_RETRY_MS = 300_000

/**
 * Publish a job of a master above on the master of this host, under the same id. Resolves with false if it has no minion that the
 * target selects. Rejects with the errors of `runJob`; while the master is unreachable, after five minutes.
 */
export async function publishBelow(
  received: ReceivedPublication,
  { client, log, signal }: PublishBelowSettings,
): Promise<boolean> {
  const request = requestOf(received)
  const until = Date.now() + MAX_RETRY_MS
  for (;;) {
    try {
      await client.runJob(request)
      return true
    } catch (error) {
      const code = SaltError.is(error) ? error.code : undefined
      if (code === 'NO_MINIONS_MATCHED' || code === 'TARGET_INVALID') return false
      if (code !== 'MASTER_UNREACHABLE' || signal.aborted || Date.now() > until) throw error
      log.warn(`The master of this host does not answer; job ${request.jid} from above waits for it.`)
      await delay(RETRY_MS, undefined, { signal })
    }
  }
}

function requestOf({ job, words }: ReceivedPublication): PublishRequest {
  const { jid, fun, arg, tgt, tgt_type, ret, delimiter, metadata, deliver_until } = job
  const left = deliver_until === undefined ? 0 : Math.floor(deliver_until - Date.now() / 1000)
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
  return {
    jid,
    fun: typeof fun === 'string' ? untyped(fun) : fun.map(untyped),
    arg,
    words,
    tgt: tgt as TargetExpression, // whatever it is, it is published as it came
    tgtType: tgt_type,
    ret,
    delimiter,
    check: false,
    ...(isRecord(metadata) && { metadata }),
    ...(text(job.ret_config) !== undefined && { retConfig: text(job.ret_config) as string }),
    retKwargs: job.ret_kwargs,
    moduleExecutors: job.module_executors,
    executorOpts: job.executor_opts,
    ...(left > 0 && { deliverWithin: left }),
    ...(job.master_id !== undefined && { extras: { master_id: job.master_id } }),
  }
}
