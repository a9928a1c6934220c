import type { MasterConfig } from '../config/index.ts'
import { readSizes } from './batch.ts'
import type { BatchSettings, PublishRequest } from './contract.ts'

/**
 * The request for a batch that the master runs, in the form of openSUSE's clients; `failhard`, `batch_max_fail` are our own.
 *
 * @throws SaltError INVALID_ARGUMENTS
 */
export function checkedBatch(
  request: PublishRequest,
  size: number | string,
  settings: Omit<BatchSettings, 'onWave'>,
  config: Pick<MasterConfig, 'batch_presence_ping_timeout'>,
): PublishRequest {
  readSizes(size, settings)
  const { batchWait, failhard, maxFail } = settings
  const extras = {
    ...request.extras,
    batch: String(size),
    ...(batchWait !== undefined && { batch_delay: batchWait }),
    ...(failhard && { failhard }),
    ...(maxFail !== undefined && { batch_max_fail: String(maxFail) }),
    ...(request.gatherJobTimeout !== undefined && { gather_job_timeout: request.gatherJobTimeout }),
    ...(config.batch_presence_ping_timeout !== undefined && {
      batch_presence_ping_timeout: config.batch_presence_ping_timeout,
    }),
  }
  return { ...request, extras }
}
