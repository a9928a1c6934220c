import type { Log } from '../author/context.ts'
import { type EventPublisher, meterEventBus } from '../events/index.ts'
import type { ReturnSpool } from '../jobs/return-spool.ts'
import type { MetricsConfig } from '../metrics/enabled.ts'
import { openEndpoint } from '../metrics/endpoint.ts'
import type { Meter, Reading } from '../metrics/index.ts'
import { setBuildInfo } from '../metrics/process-metrics.ts'
import { readOutboxes } from '../outbox/index.ts'
import type { JobPool } from './jobs/job-pool.ts'
import type { ProcTable } from './jobs/proc-table.ts'
import type { MasterConnection } from './link/master-connection.ts'

/** The label of the minion's own process. Job processes are measured by the durations of jobs instead. */
const PROCESS = 'minion'

export interface MinionParts {
  readonly config: MetricsConfig
  readonly log: Log
  readonly bus: EventPublisher
  readonly connections: readonly MasterConnection[]
  readonly pool: JobPool
  readonly procs: ProcTable
  readonly spool: ReturnSpool
}

/** Serve the metrics of the minion process on `/metrics`. */
export function openMinionMetrics(meter: Meter, parts: MinionParts): { close(): Promise<void> } {
  const { config, log, bus, spool } = parts
  setBuildInfo(meter, 'salt-minion')
  meterEventBus(meter, bus)
  readJobs(meter, parts)
  readConnections(meter, parts)
  if (spool.outbox) readOutboxes(meter, [spool.outbox])
  return openEndpoint(config, log, () => meter.snapshot())
}

function readJobs(meter: Meter, { pool, procs, spool }: MinionParts): void {
  meter.read(() => {
    const jobs = procs.running().filter(({ isReturning }) => !isReturning)
    const queued = jobs.filter(({ process }) => process === undefined).length
    return [
      ['salt_minion_jobs_running', jobs.length - queued, []],
      ['salt_minion_jobs_queued', queued, []],
      ['salt_minion_spooled_returns', spool.size, []],
      ['salt_minion_job_processes_started', pool.started, []],
      ['salt_minion_job_processes_died', pool.died, []],
      ['salt_process_up', 1, [PROCESS]],
    ]
  })
}

function readConnections(meter: Meter, { connections }: MinionParts): void {
  meter.read(() =>
    connections.flatMap(({ address, publishConnection }): Reading[] => [
      ['salt_minion_master_connected', publishConnection.isUp ? 1 : 0, [address]],
      ['salt_minion_master_connections', publishConnection.established, [address]],
    ]),
  )
}
