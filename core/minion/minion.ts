import { join } from 'node:path'
import type { Log, MinionServices } from '../author/context.ts'
import { systemClock } from '../base/clock.ts'
import { makeDirectory } from '../base/directory.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { SteadyTime } from '../base/steady-time.ts'
import type { MinionConfig } from '../config/index.ts'
import { Engines } from '../engines/index.ts'
import { EventPublisher, minionEventSockets, tags, watchEvents } from '../events/index.ts'
import { CachedReturns } from '../jobs/cached-returns.ts'
import { Datastore } from '../jobs/datastore.ts'
import { ReturnSpool } from '../jobs/return-spool.ts'
import type { ReceivedJob, SeenJobs } from '../jobs/seen-jobs.ts'
import { MinionKeys } from '../keys/minion-keys.ts'
import { type Description, type Loader, openLoader } from '../loader/index.ts'
import { type Meter, meterFor } from '../metrics/index.ts'
import type { ReturnerProcesses } from '../returners/index.ts'
import { checkAfterCrash, isFull } from '../store/index.ts'
import { type JobTracer, jobTracer } from '../tracing/index.ts'
import type { Transport } from '../transport/contract.ts'
import { type HeldDirectory, holdDirectory } from '../transport/held-directory.ts'
import { getTransport } from '../transport/index.ts'
import { makeMinionEvent } from '../wire/minion-event.ts'
import { newStartToken } from '../wire/minion-start.ts'
import { CatalogueReporter } from './catalogue-reporter.ts'
import { ControlFunctions } from './control-functions.ts'
import { Facts, type FactsSettings } from './facts.ts'
import { createFileServices } from './files.ts'
import { JobIntake } from './job-intake.ts'
import { JobPool } from './job-pool.ts'
import { askedForBy } from './local-events.ts'
import { masterAddresses } from './master-addresses.ts'
import { MasterLink } from './master-link.ts'
import { tellAll } from './master-links.ts'
import { withoutFiles } from './orphans.ts'
import { cachedReturnsDirectory, oldSeenFile, spoolDirectory } from './paths.ts'
import { ProcTable } from './proc-table.ts'
import { Renewal } from './renewal.ts'
import { openReturnerService } from './returner-service.ts'
import { createServices } from './services.ts'
import { checkSudoUser } from './sudo-user.ts'

/** How long returns on their way to a master may take when the minion ends. Milliseconds. */
const LAST_RETURNS_MS = 500

/** A minion: its links to its masters, the jobs it runs, the returns it owes. Composition only. */
export class Minion {
  readonly #config: MinionConfig
  readonly #log: Log
  readonly #links: MasterLink[] = []
  #facts!: Facts
  #bus!: EventPublisher
  #procs!: ProcTable
  #spool!: ReturnSpool
  #cached!: CachedReturns
  #datastore!: Datastore
  #loader!: Loader
  readonly #control = new ControlFunctions()
  #pool!: JobPool
  #reporter!: CatalogueReporter
  #returners: ReturnerProcesses | undefined
  #engines!: Engines
  #renewal!: Renewal
  #intake!: JobIntake
  #held: HeldDirectory | undefined
  #leave!: () => Promise<void>
  #meter: Meter | undefined
  #metrics: { close(): Promise<void> } | undefined
  readonly #working = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  readonly #startToken = newStartToken()

  private constructor(config: MinionConfig, log: Log) {
    this.#config = config
    this.#log = log
  }

  static async open(
    config: MinionConfig,
    log: Log,
    transport: Transport = getTransport(config.transport),
    load?: FactsSettings['load'],
  ): Promise<Minion> {
    const minion = new Minion(config, log)
    try {
      await minion.#open(transport, load)
    } catch (error) {
      await minion.#held?.close()
      throw error
    }
    return minion
  }

  get grains(): Readonly<Record<string, unknown>> {
    return this.#facts.grains
  }

  /** Resolves when each of its masters has answered its first sign-in, or has not. */
  get asked(): Promise<unknown> {
    return Promise.all(this.#links.map((link) => link.asked))
  }

  /** Serves its masters until closed. Rejects when the last of them is given up. */
  async run(): Promise<void> {
    const ends = await Promise.allSettled(this.#links.map((link) => this.#serve(link)))
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed && ends.every((end) => end.status === 'rejected')) throw failed.reason
  }

  async #serve(link: MasterLink): Promise<void> {
    try {
      await link.run()
    } catch (error) {
      if (this.#links.length > 1 && !this.#closing.signal.aborted)
        this.#log.error(`The master ${link.address} is given up: ${messageOf(error)}`)
      throw error
    }
  }

  /** Take another configuration. Only engines and grains go by it: all else keeps the one of the start. */
  async reload(config: MinionConfig, changed: ReadonlySet<string>): Promise<void> {
    await this.#engines.reload({ ...config })
    if (changed.has('grains')) await this.#renewal.refreshGrains()
  }

  /** Stops taking jobs, waits up to `ms` for running ones; later returns wait in the spool. */
  async close(ms = 3000): Promise<void> {
    this.#closing.abort()
    const ended = this.#engines.close()
    await this.#metrics?.close()
    this.#reporter.close()
    await Promise.all(this.#links.map((link) => link.stopTaking()))
    const finished = Promise.allSettled(this.#working)
    await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, ms))])
    this.#pool.close()
    await this.#intake.close(LAST_RETURNS_MS)
    await Promise.all(this.#links.map((link) => link.close()))
    await this.#returners?.close()
    await ended
    await this.#bus.close()
    await this.#spool.close()
    await this.#leave()
    await this.#held?.close()
    await (await jobTracer())?.flush()
  }

  async #open(transport: Transport, load: FactsSettings['load']): Promise<void> {
    const config = this.#config
    const log = this.#log
    for (const directory of [config.cachedir, config.sock_dir]) await makeDirectory(directory)
    this.#held = await holdDirectory({
      directory: config.cachedir,
      program: 'salt-minion',
      id: config.id,
      onProblem: (sentence) => log.warn(sentence),
    })
    this.#meter = await meterFor(config, 'minion')
    this.#datastore = new Datastore(config.cachedir)
    this.#facts = await Facts.open({ config, log, datastore: this.#datastore, ...(load && { load }) })
    await checkSudoUser({ config: { ...config }, grains: this.#facts.grains, log })
    this.#bus = await this.#openBus()
    await this.#openStores()
    const { procs, left } = await ProcTable.open(config.cachedir)
    this.#procs = procs
    const facts = this.#facts
    this.#loader = openLoader('modules', {
      config,
      log,
      get grains() {
        return facts.grains
      },
      get pillar() {
        return facts.pillar
      },
    })
    this.#pool = new JobPool({
      id: config.id,
      config,
      facts: () => this.#facts,
      log,
      warm: config.multiprocessing ? 1 : 0,
    })
    this.#reporter = new CatalogueReporter({
      id: config.id,
      describe: (awaited, imports) => this.#describe(awaited, imports),
      imports: config.catalogue_imports,
      idleMs: config.catalogue_idle_time * 1000,
      idleFor: () => this.#intake?.idleFor() ?? 0,
      stamp: () => this.#loader.stamp(),
      onChange: () => this.#renewal.reload(),
      log,
    })
    const keys = await MinionKeys.open(config)
    await this.#openLinks(keys, transport)
    this.#returners = this.#openReturners()
    const owed = new Set(this.#spool.pending().map(({ jid }) => jid))
    this.#renewal = this.#openRenewal()
    await this.#renewal.lookForOverrides()
    const unsettled = this.#seen.unsettled()
    const waited = unsettled.filter(({ begun }) => !begun)
    this.#intake = this.#openIntake(keys, waited, await jobTracer())
    const { id } = config
    this.#engines = new Engines({
      role: 'minion',
      id,
      config: { ...config },
      grains: () => facts.grains,
      log,
    })
    if (this.#meter) this.#metrics = await this.#openMetrics(this.#meter)
    const unknown = withoutFiles(unsettled, this.#procs, config.cachedir)
    for (const entry of unknown) await this.#procs.add(entry)
    const begun = unknown.filter(({ job }) => !waited.some((owed) => owed.job.jid === job.jid))
    this.#track('Following jobs of an earlier run', this.#intake.followOrphans([...left, ...begun], owed))
  }

  /** Control tags on the minion's own bus are followed. */
  #openBus(): Promise<EventPublisher> {
    const { id, max_event_size: maxEventSize } = this.#config
    return EventPublisher.open({
      ...minionEventSockets(this.#config, id),
      maxEventSize,
      log: this.#log,
      watch: this.#meter && watchEvents(this.#meter),
      onEvent: ({ tag, data }) => {
        const tellMasters = (load: Record<string, unknown>) => tellAll(this.#links, load)
        const work = this.#renewal && askedForBy(tag, data, { id, renewal: this.#renewal, tellMasters })
        if (work) this.#track(`What ${tag} asks for`, work)
      },
    })
  }

  async #openStores(): Promise<void> {
    const { cachedir, return: returners } = this.#config
    const onDamage = (error: SaltError) => this.#log.error(error.message)
    const marker = join(cachedir, '.running')
    const [spool, seen] = [spoolDirectory(this.#config), oldSeenFile(this.#config)]
    this.#leave = await checkAfterCrash({
      marker,
      stores: [ReturnSpool.path(spool)],
      onDamage,
      onCrash: () =>
        this.#log.info('The last salt-minion here did not end in order: its stores are looked at first.'),
      onWait: (sentence) => this.#log.warn(sentence),
    })
    if (isFull(marker))
      this.#log.warn(
        `The disk is full (${cachedir}): no job runs here until there is room; no restart is needed.`,
      )
    this.#spool = ReturnSpool.open(spool, { onDamage, returners })
    await this.#seen.takeOver(seen)
    this.#cached = new CachedReturns(cachedReturnsDirectory(this.#config))
  }

  async #openLinks(keys: MinionKeys, transport: Transport): Promise<void> {
    for (const address of await masterAddresses(this.#config)) {
      this.#links.push(
        new MasterLink({
          config: this.#config,
          id: this.#config.id,
          key: keys.key,
          known: keys.master(),
          signingKey: keys.signingKey,
          startToken: this.#startToken,
          transport,
          address,
          grains: () => this.#facts.grains,
          log: this.#log,
          onJob: (received, link) => this.#track('A job', this.#intake.onJob(received, link)),
          onReady: (link) => this.#beReady(link),
          onConnection: (state, address) => this.#onConnection(state, address),
          now: Date.now,
        }),
      )
    }
  }

  async #beReady(link: MasterLink): Promise<void> {
    await this.#renewal.begin(link)
    this.#track('Jobs that waited', this.#intake.resume(link))
  }

  /** In the store of the spool. */
  get #seen(): SeenJobs {
    const { seen } = this.#spool
    if (!seen) throw new SaltError('STORE_FAILED', 'This minion keeps no jobs.')
    return seen
  }

  #onConnection(
    state: 'up' | 'down',
    { host, port }: { readonly host: string; readonly port: number },
  ): void {
    this.#bus.publish(state === 'up' ? tags.masterConnected : tags.masterDisconnected, { master: host })
    const link = this.#links.find(({ address }) => address === `${host}:${port}`)
    if (link) this.#reporter[state === 'up' ? 'connected' : 'disconnected'](link)
  }

  #openReturners(): ReturnerProcesses | undefined {
    const { outbox } = this.#spool
    const { id } = this.#config
    if (!outbox) return undefined
    return openReturnerService({
      config: this.#config,
      outbox,
      facts: () => this.#facts,
      fire: (tag, data) =>
        void tellAll(this.#links, makeMinionEvent(id, { tag, data })).catch((error: unknown) =>
          this.#log.debug(`The masters were not told ${tag}: ${messageOf(error)}`),
        ),
      log: this.#log,
    })
  }

  #openRenewal(): Renewal {
    return new Renewal({
      config: this.#config,
      log: this.#log,
      facts: this.#facts,
      loader: this.#loader,
      control: this.#control,
      pool: this.#pool,
      reporter: this.#reporter,
      bus: this.#bus,
      links: this.#links,
      sync: (link) => this.#fileServicesFor(link, { unseen: true }).sync({}),
      onChange: () => this.#returners?.refresh(),
    })
  }

  #openIntake({ key }: MinionKeys, waited: readonly ReceivedJob[], tracer?: JobTracer): JobIntake {
    const time = new SteadyTime({ clock: systemClock, onLeap: (ms) => this.#log.warn(leapSentence(ms)) })
    time.now(this.#seen.latest)
    return new JobIntake({
      time,
      config: this.#config,
      log: this.#log,
      facts: this.#facts,
      key,
      links: this.#links,
      loader: this.#loader,
      control: this.#control,
      pool: this.#pool,
      procs: this.#procs,
      spool: this.#spool,
      seen: this.#seen,
      waited,
      cached: this.#cached,
      returners: this.#returners,
      servicesFor: (link) => this.#servicesFor(link),
      closing: this.#closing.signal,
      meter: this.#meter,
      tracer,
    })
  }

  async #openMetrics(meter: Meter): Promise<{ close(): Promise<void> }> {
    const { openMinionMetrics } = await import('./metrics.ts')
    return openMinionMetrics(meter, {
      config: this.#config,
      log: this.#log,
      bus: this.#bus,
      links: this.#links,
      pool: this.#pool,
      procs: this.#procs,
      spool: this.#spool,
    })
  }

  /** What jobs of a master may ask of the minion. */
  #servicesFor(link: MasterLink): MinionServices {
    return createServices({
      ...this.#fileServicesFor(link),
      id: this.#config.id,
      procs: this.#procs,
      spool: this.#spool,
      cached: this.#cached,
      datastore: this.#datastore,
      fire: async (tag, data) => this.#bus.publish(tag, data),
      request: (load) => link.request(load),
      tellMasters: (load) => tellAll(this.#links, load),
      refreshModules: () => this.#renewal.refreshModules(),
      refreshGrains: () => this.#renewal.refreshGrains(link),
    })
  }

  #fileServicesFor(link: MasterLink, options: { readonly unseen?: boolean } = {}) {
    return createFileServices({
      config: this.#config,
      grains: this.#facts.grains,
      log: this.#log,
      request: (load) => link.request(load),
      refreshModules: () => this.#renewal.refreshModules(),
      refreshGrains: () => this.#renewal.refreshGrains(link),
      ...options,
    })
  }

  #describe(awaited: boolean, imports: boolean): Promise<Description | undefined> {
    const { multiprocessing } = this.#config
    return multiprocessing ? this.#pool.describe(awaited, imports) : this.#loader.describe(imports)
  }

  #track(what: string, work: Promise<unknown>): void {
    const guarded = work.catch((error: unknown) => this.#log.error(`${what} failed: ${messageOf(error)}`))
    this.#working.add(guarded)
    void guarded.finally(() => this.#working.delete(guarded))
  }
}

const leapSentence = (ms: number): string =>
  `The clock has gone ahead by ${Math.round(ms / 60_000)} minutes at once. What this minion has run is not forgotten by ` +
  'that before it has stayed so for an hour.'
