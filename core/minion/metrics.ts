import type { Log } from '../author/context.ts'
import { type EventPublisher, readEventBus } from '../events/index.ts'
import type { ReturnSpool } from '../jobs/return-spool.ts'
import { openEndpoint } from '../metrics/endpoint.ts'
import type { Meter, Reading } from '../metrics/index.ts'
import { tellBuild } from '../metrics/process-metrics.ts'
import type { MetricsConfig } from '../metrics/wanted.ts'
import { readOutboxes } from '../returners/index.ts'
import type { JobPool } from './job-pool.ts'
import type { MasterLink } from './master-link.ts'
import type { ProcTable } from './proc-table.ts'

/** The name of the minion's own process; what job processes cost is in the times of jobs. */
const PROCESS = 'minion'

export interface MinionParts {
  readonly config: MetricsConfig
  readonly log: Log
  readonly bus: EventPublisher
  readonly links: readonly MasterLink[]
  readonly pool: JobPool
  readonly procs: ProcTable
  readonly spool: ReturnSpool
}

/** `/metrics` of a minion, from its one process. */
export function openMinionMetrics(meter: Meter, parts: MinionParts): { close(): Promise<void> } {
  const { config, log, bus, spool } = parts
  tellBuild(meter, 'salt-minion')
  readEventBus(meter, bus)
  readJobs(meter, parts)
  readLinks(meter, parts)
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

function readLinks(meter: Meter, { links }: MinionParts): void {
  meter.read(() =>
    links.flatMap(({ address, connection }): Reading[] => [
      ['salt_minion_master_connected', connection.isUp ? 1 : 0, [address]],
      ['salt_minion_master_connections', connection.made, [address]],
    ]),
  )
}
