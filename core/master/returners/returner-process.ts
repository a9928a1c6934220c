/**
 * Entry of the returner process: supervises the processes that deliver jobs, returns and events from the outboxes to the stores of
 * `master_job_cache`, `ext_job_cache` and `event_return`.
 */
import type { Log } from '../../author/context.ts'
import { systemClock } from '../../base/clock.ts'
import { Disposer } from '../../base/disposer.ts'
import { SteadyTime } from '../../base/steady-time.ts'
import { eventOutboxDirectory, jobCacheDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import { EventBus, masterEventSockets, tags } from '../../events/index.ts'
import { ExternalJobs } from '../../jobs/external-jobs.ts'
import { JobCache } from '../../jobs/job-cache.ts'
import { jobSinks, loadSinks, openJobCache, SYNDIC } from '../../jobs/open-job-cache.ts'
import { openLoader } from '../../loader/index.ts'
import { checkReturner, ReturnerProcesses, readOutboxes, writeTimes } from '../../outbox/index.ts'
import { type BatchLimits, Outbox } from '../../outbox/outbox.ts'
import { targetFrom } from '../../outbox/outbox-target.ts'
import { eventTargets } from '../publisher/event-sink.ts'
import { type ChildPart, type ChildStart, runChild } from '../supervision/child.ts'
import { logDamageTo } from '../supervision/directories.ts'
import { recordMissingReturns } from './missing-returns.ts'

async function open({ config, log, meter }: ChildStart): Promise<ChildPart> {
  const host = { loader: openLoader('returners', { config, log }), config: { ...config }, log }
  const events = eventTargets(config)
  for (const target of new Set([...jobSinks(config), ...loadSinks(config), ...events]))
    await checkReturner(targetFrom(target), host)

  const disposer = new Disposer()
  const onDamage = logDamageTo(log)
  const bus = disposer.own(await EventBus.connect(masterEventSockets(config)))
  const jobs = disposer.own(openJobCache(config, { onDamage, onQueued: () => returners.wake() }))
  const outbox = disposer.own(Outbox.open(eventOutboxDirectory(config), { onDamage }))
  if (meter) readOutboxes(meter, [jobs.outbox, outbox])
  const returners = disposer.own(
    new ReturnerProcesses({
      outboxes: [jobs.outbox, outbox],
      start: () => ({
        type: 'start',
        config: { ...config },
        outboxes: [JobCache.path(jobCacheDirectory(config)), Outbox.path(eventOutboxDirectory(config))],
        times: writeTimes(config),
        gather: Object.fromEntries(events.flatMap((target) => gathering(target, config))),
      }),
      log,
      served: [SYNDIC],
      onState: (name, state) =>
        void bus.fire(tags.returnerState(name, state.state), { ...state, returner: name }),
    }),
  )
  if (jobSinks(config).length > 0)
    disposer.own(
      recordMissingReturns(config, jobs, log, {
        clock: new SteadyTime({ clock: systemClock, onLeap: () => {} }),
        ...(config.cluster_id !== undefined && { returnedElsewhere: storedReturns(config, log, disposer) }),
      }),
    )
  return {
    rotated: () => {},
    fire: () => {},
    queued: () => returners.wake(),
    close: () => disposer.close(),
  }
}

/**
 * Return a function that finds the minions of a job whose return is in a store that the masters of a cluster share. A store that
 * cannot be read now is left out: no store replaces a return by a row for a missing one.
 */
function storedReturns(config: MasterConfig, log: Log, disposer: Disposer) {
  const stores = disposer.own(new ExternalJobs(config, log))
  return async (jid: string) => new Set((await stores.returns(jid)).map(({ id }) => id))
}

/** Return how `event_return_queue` gathers events for a returner: without a maximum time, until there are enough. */
function gathering(
  target: string,
  { event_return_queue, event_return_queue_max_seconds }: MasterConfig,
): [string, BatchLimits][] {
  const ms = (event_return_queue_max_seconds ?? Number.POSITIVE_INFINITY) * 1000
  return event_return_queue > 0 ? [[target, { entries: event_return_queue, ms }]] : []
}

runChild(open)
