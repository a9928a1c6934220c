import type { Log } from '../../author/context.ts'
import type { MinionConfig } from '../../config/index.ts'
import type { Loader } from '../../loader/index.ts'
import type { JobTracer } from '../../tracing/index.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { ReturnLoad } from '../../wire/return.ts'
import type { Facts } from '../facts.ts'
import type { Executors } from './executors.ts'
import { failedReturn, withoutArguments } from './failed-return.ts'
import type { ExecutorSettings } from './job-executor.ts'
import { executeJob } from './job-runner.ts'
import { traceRun } from './run-span.ts'
import { runGuarded } from './uncaught.ts'

export interface RunInMinionSettings {
  readonly config: MinionConfig
  readonly log: Log
  readonly facts: Facts
  readonly loader: Loader
  readonly tracer?: JobTracer | undefined
  /** Undefined for control functions, which are built in and need no guard either. */
  readonly executors: Executors | undefined
}

/** Run a job in the minion's own process. */
export async function runInMinion(
  job: JobLoad,
  { services, words, onShown }: Parameters<ExecutorSettings['runHere']>[1],
  signal: AbortSignal,
  { config, log, facts, loader, tracer, executors }: RunInMinionSettings,
): Promise<ReturnLoad> {
  const { id } = config
  const { grains, pillar } = facts
  const match = await facts.openMatch()
  const runner = { id, config, grains, pillar, loader, executors, services, match, log, onShown }
  const abort = new AbortController()
  const either = AbortSignal.any([signal, abort.signal])
  const run = () => traceRun(tracer, job, id, () => executeJob(job, runner, either, words))
  const failed = (reason: string) => failedReturn(withoutArguments(job), id, reason)
  return executors ? runGuarded(run, { abort, log, failed }) : run()
}
