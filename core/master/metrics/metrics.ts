import type { MasterConfig } from '../../config/index.ts'
import type { Logger } from '../../log/index.ts'
import { openEndpoint } from '../../metrics/endpoint.ts'
import type { Meter, Reading, Snapshot } from '../../metrics/index.ts'
import { openMeter, setBuildInfo } from '../../metrics/process-metrics.ts'
import { MetricTotals } from '../../metrics/totals.ts'
import { runningRuns } from '../../runs/running-runs.ts'
import type { WorkerProxy } from '../../transport/proxy.ts'
import type { Supervisor } from '../supervision/supervisor.ts'

/** How long to wait for each process. For one that does not answer, its last snapshot counts. */
const ANSWER_MS = 500
const OWN_NAME = 'supervisor'
/** Name of the child that is left out: salt-api serves its metrics itself, to users who may see them. */
const API_NAME = 'salt-api'

interface Parts {
  readonly config: MasterConfig
  readonly log: Logger
  readonly proxy: Pick<WorkerProxy, 'workers' | 'waiting' | 'refused'>
  readonly supervisor: Pick<Supervisor, 'restarts' | 'measured'>
  /** Number of workers that were replaced because they did not answer. */
  stuck(): number
}

/**
 * Serve `/metrics` of a master from the supervisor's process, which knows every child and keeps running when they hang. On
 * each request it asks the children for their snapshots and adds them up.
 */
export function openMasterMetrics(parts: Parts): { close(): Promise<void> } {
  const meter = openMeter(OWN_NAME)
  setBuildInfo(meter, 'salt-master')
  registerSupervisorMetrics(meter, parts)
  const totals = new MetricTotals()

  async function gather(): Promise<Snapshot> {
    const children = await parts.supervisor.measured(ANSWER_MS, (name) => name !== API_NAME)
    for (const [name, measured] of children) if (measured) totals.take(name, measured.pid, measured.snapshot)
    totals.take(OWN_NAME, process.pid, await meter.snapshot())
    const up = [...children].map(([name, measured]) => ({ labels: [name], value: measured ? 1 : 0 }))
    return { ...totals.sum(), salt_process_up: [{ labels: [OWN_NAME], value: 1 }, ...up] }
  }
  return openEndpoint(parts.config, parts.log, gather)
}

function registerSupervisorMetrics(meter: Meter, { config, proxy, supervisor, stuck }: Parts): void {
  meter.read(() => [
    ['salt_master_requests_waiting', proxy.waiting, []],
    ['salt_master_requests_turned_away', proxy.refused, []],
    ['salt_master_workers_stuck', stuck(), []],
    ...Array.from(
      proxy.workers,
      ([name, { outstanding }]): Reading => ['salt_master_requests_held', outstanding, [name]],
    ),
    ...Array.from(
      supervisor.restarts,
      ([name, count]): Reading => ['salt_master_process_restarts', count, [name]],
    ),
  ])
  meter.read(async () => [['salt_master_runners_running', (await runningRuns(config)).length, []]])
}
