import type { MasterConfig } from '../config/index.ts'
import { invalidBatch, invalidMaxFail, readBatch, readBatchSize } from '../jobs/batch-size.ts'
import type { BatchOrder } from '../jobs/batches.ts'
import { asNumber, isRecord } from '../wire/bytes.ts'
import type { PublishLoad } from '../wire/publish-request.ts'
import type { Issue } from './issue.ts'

const MS = 1000

/**
 * What a publish request says of waves: `batch` among its extras, as openSUSE's clients send it, with `batch_delay`,
 * `gather_job_timeout`, `batch_presence_ping_timeout`, and `failhard`, `batch_max_fail` of our own. Undefined if it wants
 * none; a sentence if it cannot be had.
 */
export function readBatchOrder(
  { kwargs, timeout }: Pick<PublishLoad, 'kwargs' | 'timeout'>,
  { fun, arg, shownArg, words, user, owner, ret, extras: { metadata, ...extras } }: Issue,
  config: MasterConfig,
): BatchOrder | string | undefined {
  if (!kwargs.batch) return undefined
  const size = readBatch(kwargs.batch)
  if (!size) return invalidBatch(kwargs.batch)
  const given = kwargs.batch_max_fail ?? undefined
  const mayFail = given === undefined ? undefined : readBatchSize(given)
  if (given !== undefined && !mayFail) return invalidMaxFail(given)
  if (!config.job_cache) {
    return 'This master runs no batches by itself, because it stores no returns (job_cache: false). Leave out --async.'
  }
  const gather = positive(kwargs.gather_job_timeout) ?? config.gather_job_timeout
  const ping = positive(kwargs.batch_presence_ping_timeout) ?? config.batch_presence_ping_timeout ?? gather
  return {
    ...{ fun, arg, shownArg, user, owner, ret, extras, size },
    ...(words && { words }),
    ...(mayFail && { mayFail }),
    metadata: isRecord(metadata) ? metadata : {},
    failhard: kwargs.failhard === true,
    waitMs: (positive(kwargs.batch_delay) ?? 0) * MS,
    timeoutMs: (positive(timeout) ?? config.timeout) * MS,
    gatherMs: gather * MS,
    pingMs: ping * MS,
  }
}

function positive(value: unknown): number | undefined {
  const number = asNumber(value)
  return number !== undefined && number > 0 ? number : undefined
}
