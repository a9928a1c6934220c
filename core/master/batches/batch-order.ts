import { isRecord } from '../../base/record.ts'
import type { MasterConfig } from '../../config/index.ts'
import { invalidBatch, invalidMaxFail, readBatch, readBatchSize } from '../../jobs/batch-size.ts'
import type { BatchOrder } from '../../jobs/batches.ts'
import { asNumber } from '../../wire/bytes.ts'
import type { PublishLoad } from '../../wire/publish-request.ts'
import type { JobToPublish } from '../worker/publish-job.ts'

const MS_PER_SECOND = 1000

/**
 * Read the batch options of a publish request: `batch` among its extras, as openSUSE's clients send it, with `batch_delay`,
 * `gather_job_timeout`, `batch_presence_ping_timeout`, and our own `failhard`, `batch_max_fail`. Undefined if it asks for
 * no batch; a sentence if the batch is refused.
 */
export function readBatchOrder(
  { kwargs, timeout, deliverWithin }: Pick<PublishLoad, 'kwargs' | 'timeout' | 'deliverWithin'>,
  { fun, arg, shownArg, words, user, owner, ret, extras: { metadata, ...extras } }: JobToPublish,
  config: MasterConfig,
): BatchOrder | string | undefined {
  if (!kwargs.batch) return undefined
  const size = readBatch(kwargs.batch)
  if (!size) return invalidBatch(kwargs.batch)
  const given = kwargs.batch_max_fail ?? undefined
  const mayFail = given === undefined ? undefined : readBatchSize(given)
  if (given !== undefined && !mayFail) return invalidMaxFail(given)
  if (!config.job_cache) {
    return 'The master cannot run a batch, because it stores no returns (job_cache: false). Leave out --async.'
  }
  const gather = positive(kwargs.gather_job_timeout) ?? config.gather_job_timeout
  const ping = positive(kwargs.batch_presence_ping_timeout) ?? config.batch_presence_ping_timeout ?? gather
  return {
    fun,
    arg,
    shownArg,
    user,
    owner,
    ret,
    extras,
    size,
    ...(words && { words }),
    ...(mayFail && { mayFail }),
    ...(deliverWithin && { deliverWithin }),
    metadata: isRecord(metadata) ? metadata : {},
    failhard: kwargs.failhard === true,
    waitMs: (positive(kwargs.batch_delay) ?? 0) * MS_PER_SECOND,
    timeoutMs: (positive(timeout) ?? config.timeout) * MS_PER_SECOND,
    gatherMs: gather * MS_PER_SECOND,
    pingMs: ping * MS_PER_SECOND,
  }
}

function positive(value: unknown): number | undefined {
  const number = asNumber(value)
  return number !== undefined && number > 0 ? number : undefined
}
