import type { MasterConfig } from '../config/index.ts'
import { runningRuns } from '../jobs/running-runs.ts'
import type { Logger } from '../log/index.ts'
import { openEndpoint } from '../metrics/endpoint.ts'
import type { Meter, Reading, Snapshot } from '../metrics/index.ts'
import { openMeter, tellBuild } from '../metrics/process-metrics.ts'
import { Totals } from '../metrics/totals.ts'
import type { WorkerDevice } from '../transport/device.ts'
import type { Supervisor } from './supervisor.ts'

/** A process that does not answer within that does not hold up the others: what it told before counts. Milliseconds. */
const ANSWER_MS = 500
const OWN_NAME = 'supervisor'
/** Serves its metrics itself, to those who may see them. */
const API_NAME = 'salt-api'

interface Parts {
  readonly config: MasterConfig
  readonly log: Logger
  readonly device: Pick<WorkerDevice, 'workers' | 'waiting' | 'refused'>
  readonly supervisor: Pick<Supervisor, 'restarts' | 'measured'>
  /** Workers that were replaced because they did not answer. */
  stuck(): number
}

/**
 * `/metrics` of a master, in the process of the supervisor: it knows of every child, and goes on when they hang. It asks
 * them when it is asked itself, and adds up what they say.
 */
export function openMasterMetrics(parts: Parts): { close(): Promise<void> } {
  const meter = openMeter(OWN_NAME)
  tellBuild(meter, 'salt-master')
  readSupervisor(meter, parts)
  const totals = new Totals()

  async function gather(): Promise<Snapshot> {
    const children = await parts.supervisor.measured(ANSWER_MS, (name) => name !== API_NAME)
    for (const [name, measured] of children) if (measured) totals.take(name, measured.pid, measured.snapshot)
    totals.take(OWN_NAME, process.pid, await meter.snapshot())
    const up = [...children].map(([name, measured]) => ({ labels: [name], value: measured ? 1 : 0 }))
    return { ...totals.sum(), salt_process_up: [{ labels: [OWN_NAME], value: 1 }, ...up] }
  }
  return openEndpoint(parts.config, parts.log, gather)
}

function readSupervisor(meter: Meter, { config, device, supervisor, stuck }: Parts): void {
  meter.read(() => [
    ['salt_master_requests_waiting', device.waiting, []],
    ['salt_master_requests_turned_away', device.refused, []],
    ['salt_master_workers_stuck', stuck(), []],
    ...Array.from(
      device.workers,
      ([name, { outstanding }]): Reading => ['salt_master_requests_held', outstanding, [name]],
    ),
    ...Array.from(
      supervisor.restarts,
      ([name, count]): Reading => ['salt_master_process_restarts', count, [name]],
    ),
  ])
  meter.read(async () => [['salt_master_runners_running', (await runningRuns(config)).length, []]])
}
