import { jidTime } from '../jobs/jid.ts'
import { funLabel, type Meter } from '../metrics/index.ts'

/** A return that is older belongs to a minion that was away, or to a jid that somebody thought of. Milliseconds. */
const LONGEST_MS = 86_400_000

/** Count a return by what became of it, how the job went and how long it took since its jid was given. */
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
  if (took >= 0 && took < LONGEST_MS) meter.observe('salt_master_job_duration_seconds', took / 1000, [fun])
}

/** Of a job with several functions there is one of each for each. */
function hasSucceeded({ retcode, success }: Readonly<Record<string, unknown>>): boolean {
  return each(retcode).every((code) => !code) && each(success).every((one) => one !== false)
}

const each = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : [value]
