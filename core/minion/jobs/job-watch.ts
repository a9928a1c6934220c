import { funLabel, type Meter } from '../../metrics/index.ts'
import type { JobTracer } from '../../tracing/index.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { ReturnLoad } from '../../wire/return.ts'

export interface JobInstruments {
  /** Set if metrics are enabled. */
  readonly meter?: Meter | undefined
  /** Makes spans of jobs. Set if an OpenTelemetry SDK is registered. */
  readonly tracer?: JobTracer | undefined
}

/** Count a job that has arrived at a minion. Returns a function to call when its return has been persisted. */
export function observeJob(
  { meter, tracer }: JobInstruments,
  { jid, fun }: JobLoad,
  minion: string,
): (ret: ReturnLoad, how: 'ran' | 'refused') => void {
  const start = Date.now()
  meter?.count('salt_minion_jobs_received', [])
  return ({ retcode }, how) => {
    tracer?.note({ part: 'job', jid, fun, minion, start, retcode })
    if (!meter) return
    const name = funLabel(fun)
    const isSuccess = how === 'ran' && isZero(retcode)
    meter.count('salt_minion_jobs_finished', [how === 'refused' ? how : isSuccess ? 'success' : 'failure'])
    meter.observe('salt_minion_job_duration_seconds', Math.max(0, Date.now() - start) / 1000, [name])
    if (!isSuccess) meter.count('salt_minion_job_failures', [name])
  }
}

/** Whether the return code is zero. A job with several functions has one for each, by name. */
const isZero = (retcode: unknown): boolean =>
  typeof retcode === 'object' && retcode !== null ? Object.values(retcode).every(isZero) : !retcode
