import { jidTime } from '../../base/jid.ts'
import { funLabel, type Meter } from '../../metrics/index.ts'

/** Longer durations are not measured: the minion was away, or the jid was made up by a client. */
const MAX_DURATION_MS = 86_400_000

/** Count a return by how it was stored and whether the job succeeded, and measure the time since its jid was assigned. */
export function countReturn(
  meter: Meter | undefined,
  jid: string,
  ret: Readonly<Record<string, unknown>>,
  outcome: 'stored' | 'duplicate' | 'conflict',
): void {
  if (!meter) return
  if (outcome !== 'stored') {
    meter.count('salt_master_returns_repeated', [outcome])
    return
  }
  const fun = funLabel(ret.fun)
  const isSuccess = hasSucceeded(ret)
  meter.count('salt_master_returns', [String(isSuccess)])
  if (!isSuccess) meter.count('salt_master_job_failures', [fun])
  const took = Date.now() - jidTime(jid).getTime()
  if (took >= 0 && took < MAX_DURATION_MS)
    meter.observe('salt_master_job_duration_seconds', took / 1000, [fun])
}

/** Whether all functions of the job succeeded: with several, each has its own retcode and success. */
function hasSucceeded({ retcode, success }: Readonly<Record<string, unknown>>): boolean {
  return each(retcode).every((code) => !code) && each(success).every((one) => one !== false)
}

const each = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [value]
