import type { Log } from '../author/context.ts'
import { Disposer } from '../base/disposer.ts'
import type { MinionConfig, Transports } from '../config/index.ts'
import { Engines } from '../engines/index.ts'
import { createEventWatch, type Event, EventPublisher, minionEventSockets, tags } from '../events/index.ts'
import { MinionKeys } from '../keys/minion-keys.ts'
import { meterFor } from '../metrics/index.ts'
import { jobTracer } from '../tracing/index.ts'
import { getTransport } from '../transport/index.ts'
import { BackgroundWork } from './background-work.ts'
import { ControlFunctions } from './control-functions.ts'
import { Datastore } from './datastore.ts'
import { Facts, type FactsSettings } from './facts.ts'
import { JobIntake } from './jobs/job-intake.ts'
import { JobPool } from './jobs/job-pool.ts'
import { findEarlierJobs } from './jobs/orphans.ts'
import { ReturnDelivery } from './jobs/return-delivery.ts'
import { CatalogueReporter } from './link/catalogue-reporter.ts'
import { MasterConnections } from './link/master-connections.ts'
import { Refresher } from './link/refresher.ts'
import { handleLocalEvent } from './local-events.ts'
import { lockCachedir } from './lock-cachedir.ts'
import { withChosenMasters } from './master-function.ts'
import { MineUpdates } from './mine-updates.ts'
import { openReturnerService } from './returner-service.ts'
import { type ConnectionServicesSettings, createConnectionServices, syncExtensionsOf } from './services.ts'
import { openStores } from './stores.ts'
import { checkSudoUser } from './sudo-user.ts'

/** Time that returns on their way to a master have when the minion closes. */
const LAST_RETURNS_MS = 500

export interface Minion {
  /** Resolves when the first sign-in attempt with each master is over. */
  readonly firstAttempts: Promise<unknown>
  /** Serve the masters until closed. Rejects when the minion has given up on every one of them. */
  run(): Promise<void>
  /** Apply a new configuration to engines and grains. Everything else keeps the one it started with. */
  reload(config: MinionConfig, changed: ReadonlySet<string>): Promise<void>
  /** Accept no more jobs and wait up to `ms` (default 3000) for running ones. Later returns stay in the spool. */
  close(ms?: number): Promise<void>
}

/** Open a minion. Nothing else may use its `cachedir` until it is closed. */
export async function openMinion(
  config: MinionConfig,
  log: Log,
  transports: Transports = getTransport,
  load?: FactsSettings['load'],
): Promise<Minion> {
  const disposer = new Disposer()
  disposer.own(await lockCachedir(config, log))
  try {
    const { finish, ...minion } = await compose(disposer, config, log, transports, load)
    const close = async (ms = 3000) => {
      try {
        await finish(ms)
      } finally {
        await disposer.close()
      }
      await (await jobTracer())?.flush()
    }
    return { ...minion, close }
  } catch (error) {
    await disposer.close()
    throw error
  }
}

interface ComposedMinion extends Omit<Minion, 'close'> {
  /** Accept no more jobs, and wait up to `ms` for running ones and then for their returns. */
  finish(ms: number): Promise<void>
}

/** Open the parts of a minion. `disposer` closes those that hold something, also if another one cannot be opened. */
async function compose(
  disposer: Disposer,
  config: MinionConfig,
  log: Log,
  transports: Transports,
  load: FactsSettings['load'],
): Promise<ComposedMinion> {
  const { id, multiprocessing } = config
  const closing = new AbortController()
  disposer.defer(() => closing.abort())
  const background = new BackgroundWork(log)
  const meter = await meterFor(config, 'minion')

  const datastore = new Datastore(config.cachedir)
  const facts = await Facts.open({ config, log, datastore, ...(load && { load }) })
  await checkSudoUser({ config: { ...config }, grains: facts.grains, log })

  /** Set once everything is composed; earlier events are ignored. */
  let onEvent: ((event: Event) => void) | undefined
  const bus = disposer.own(
    await EventPublisher.open({
      ...minionEventSockets(config, id),
      log,
      watch: meter && createEventWatch(meter),
      onEvent: (event) => onEvent?.(event),
    }),
  )

  const stores = disposer.own(await openStores(config, log))
  const { spool, procs } = stores
  const control = new ControlFunctions()
  const loader = facts.openModules()
  const pool = disposer.own(
    new JobPool({ id, config, facts: () => facts, log, warm: multiprocessing ? 1 : 0 }),
  )
  const reporter: CatalogueReporter = disposer.own(
    new CatalogueReporter({
      id,
      describe: async (awaited, imports) =>
        multiprocessing ? pool.describe(awaited, imports) : JSON.stringify(await loader.describe(imports)),
      imports: config.catalogue_imports,
      idleMs: config.catalogue_idle_time * 1000,
      idleFor: () => intake.idleFor(),
      stamp: () => loader.stamp(),
      onChange: () => refresher.reload(),
      log,
    }),
  )

  const keys = await MinionKeys.open(config)
  const mastersConfig = await withChosenMasters(config, { grains: facts.grains, log, signal: closing.signal })
  const connections = disposer.own(
    new MasterConnections({
      config: mastersConfig,
      keys,
      transports,
      log,
      grains: () => facts.grains,
      closing: closing.signal,
      onJob: (received, connection) => background.add('A job', intake.onJob(received, connection)),
      async onReady(connection) {
        await refresher.prepareFor(connection)
        background.add('Jobs that waited', intake.resume(connection))
        background.add('The update of the mine', mine.begin(connection))
      },
      async onForgotten(connection) {
        await refresher.loadPillar(connection)
        reporter.connected(connection)
        background.add('The update of the mine', mine.update(connection))
      },
      onConnection(state, connection) {
        const tag = state === 'up' ? tags.masterConnected : tags.masterDisconnected
        bus.publish(tag, { master: connection.host })
        if (state === 'up') reporter.connected(connection)
        else reporter.disconnected(connection)
      },
    }),
  )
  const sendToMasters = (load: Readonly<Record<string, unknown>>) => connections.request(load)
  const services: ConnectionServicesSettings = {
    config,
    log,
    datastore,
    sendToMasters,
    ...stores,
    grains: () => facts.grains,
    fire: async (tag, data) => bus.publish(tag, data),
    refreshModules: () => refresher.refreshModules().then(() => true),
    refreshGrains: (connection) => refresher.refreshGrains(connection),
  }

  const returners =
    spool.outbox &&
    disposer.own(
      openReturnerService({ config, outbox: spool.outbox, facts: () => facts, sendToMasters, log }),
    )
  const refresher: Refresher = new Refresher({
    config,
    log,
    facts,
    loader,
    control,
    pool,
    reporter,
    bus,
    connections: connections.all,
    sync: (connection) => syncExtensionsOf(connection, services),
    onChange: () => returners?.refresh(),
  })
  await refresher.warnOfOverrides()

  const tracer = await jobTracer()
  const earlier = await findEarlierJobs(stores, config.cachedir)
  const returns = new ReturnDelivery({
    config,
    log,
    key: keys.key,
    connections: connections.all,
    ...stores,
    returners,
    closing: closing.signal,
  })
  const intake = new JobIntake({
    config,
    log,
    facts,
    loader,
    control,
    pool,
    ...stores,
    returns,
    returners,
    meter,
    tracer,
    waiting: earlier.waiting,
    servicesFor: (connection, job) => createConnectionServices(connection, services, job.master_id),
    closing: closing.signal,
  })
  const mine = new MineUpdates({
    config,
    log,
    facts,
    pool,
    connections: connections.all,
    servicesFor: (connection) => createConnectionServices(connection, services),
    runHere: (job, own) => intake.runHere(job, own),
  })
  const grains = () => facts.grains
  const engines = disposer.own(new Engines({ role: 'minion', id, config: { ...config }, grains, log }))
  const metrics =
    meter &&
    (await import('./metrics.ts')).openMinionMetrics(meter, {
      config,
      log,
      bus,
      connections: connections.all,
      pool,
      procs,
      spool,
    })
  onEvent = ({ tag, data }) => {
    const work = handleLocalEvent(tag, data, { id, refresher, sendToMasters })
    if (work) background.add(`The work for the event ${tag}`, work)
  }
  background.add('Following jobs of an earlier run', returns.followOrphans(earlier.orphans))

  return {
    firstAttempts: connections.firstAttempts,
    run: () => connections.run(),
    async reload(next, changed) {
      await engines.reload({ ...next })
      if (changed.has('grains')) await refresher.refreshGrains()
    },
    async finish(ms) {
      closing.abort()
      mine.close()
      const enginesClosed = engines.close()
      await metrics?.close()
      reporter.close()
      await connections.unsubscribe()
      await background.settle(ms)
      pool.close()
      intake.close()
      await returns.close(LAST_RETURNS_MS)
      await enginesClosed
    },
  }
}
