import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Log, MinionServices } from '../author/context.ts'
import { makeDirectory } from '../base/directory.ts'
import { messageOf, type SaltError } from '../base/errors.ts'
import type { ReceivedJob } from '../channel/subscription.ts'
import type { MinionConfig } from '../config/index.ts'
import type { PrivateKey } from '../crypto/index.ts'
import { EventPublisher, minionEventSockets, tags } from '../events/index.ts'
import { CachedReturns } from '../jobs/cached-returns.ts'
import { Datastore } from '../jobs/datastore.ts'
import { ReturnSpool, type SpoolEntry } from '../jobs/return-spool.ts'
import { SeenJobs } from '../jobs/seen-jobs.ts'
import { MinionKeys } from '../keys/minion-keys.ts'
import {
  type Catalogue,
  collectGrains,
  type Loader,
  openLoader,
  type PublishedCall,
  refusalsHere,
} from '../loader/index.ts'
import { strftime } from '../log/strftime.ts'
import { checkAfterCrash } from '../store/index.ts'
import type { TargetMatcher } from '../targets/index.ts'
import { openMatch, openMatchers } from '../targets/open-match.ts'
import type { Transport } from '../transport/contract.ts'
import { getTransport } from '../transport/index.ts'
import { isRecord } from '../wire/bytes.ts'
import { CHECK } from '../wire/catalogue.ts'
import { signMessage } from '../wire/message-signature.ts'
import { makeMinionEvent } from '../wire/minion-event.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import { answerCheck } from './call-check.ts'
import { CatalogueReporter } from './catalogue-reporter.ts'
import { Deliverer } from './deliverer.ts'
import { createFileServices } from './files.ts'
import { type ExecutorSettings, JobExecutor } from './job-executor.ts'
import { JobPool } from './job-pool.ts'
import { type RunnerSettings, runJob } from './job-runner.ts'
import { masterAddresses } from './master-addresses.ts'
import { MasterLink } from './master-link.ts'
import { followOrphans } from './orphans.ts'
import { cachedReturnsDirectory, seenDirectory, spoolDirectory } from './paths.ts'
import { fetchPillar } from './pillar.ts'
import { type ProcFile, ProcTable } from './proc-table.ts'
import { createServices } from './services.ts'
import { StartReceipts } from './start-receipts.ts'

/** How long a minion that starts waits for its extensions. */
const AUTOLOAD_MS = 10_000

/** A minion: its links to its masters, the jobs it runs, the returns it owes. */
export class Minion {
  readonly #config: MinionConfig
  readonly #log: Log
  readonly #links: MasterLink[] = []
  #grains: Record<string, unknown> = {}
  #pillar: Record<string, unknown> = {}
  #bus!: EventPublisher
  #procs!: ProcTable
  #spool!: ReturnSpool
  #seen!: SeenJobs
  #loader!: Loader
  #matchers!: TargetMatcher
  #datastore!: Datastore
  #pool!: JobPool
  #executor!: JobExecutor
  #reporter!: CatalogueReporter
  readonly #receipts: StartReceipts
  #leave!: () => Promise<void>
  #key!: PrivateKey
  #cached!: CachedReturns
  #autoloaded = false
  readonly #deliverers = new Map<MasterLink, Deliverer>()
  readonly #working = new Set<Promise<void>>()
  readonly #closing = new AbortController()

  private constructor(config: MinionConfig, log: Log) {
    this.#config = config
    this.#log = log
    this.#receipts = new StartReceipts({ id: config.id, log })
  }

  static async open(
    config: MinionConfig,
    log: Log,
    transport: Transport = getTransport(config.transport),
  ): Promise<Minion> {
    const minion = new Minion(config, log)
    await minion.#open(transport)
    return minion
  }

  get grains(): Readonly<Record<string, unknown>> {
    return this.#grains
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
      if (this.#links.length > 1)
        this.#log.error(`The master ${link.address} is given up: ${messageOf(error)}`)
      throw error
    }
  }

  /** Stops taking jobs, waits up to `ms` for running ones; later returns wait in the spool. */
  async close(ms = 3000): Promise<void> {
    this.#closing.abort()
    this.#reporter.close()
    await Promise.all(this.#links.map((link) => link.stopTaking()))
    const finished = Promise.allSettled(this.#working)
    await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, ms))])
    this.#pool.close()
    this.#receipts.close()
    await Promise.all(Array.from(this.#deliverers.values(), (deliverer) => deliverer.close(500)))
    await Promise.all(this.#links.map((link) => link.close()))
    await this.#bus.close()
    await this.#seen.close()
    await this.#spool.close()
    await this.#leave()
  }

  async #open(transport: Transport): Promise<void> {
    const { id, cachedir } = this.#config
    for (const directory of [cachedir, this.#config.sock_dir]) await makeDirectory(directory)
    this.#grains = await collectGrains(this.#config, this.#log)
    this.#bus = await EventPublisher.open({
      ...minionEventSockets(this.#config, id),
      maxEventSize: this.#config.max_event_size,
      onEvent: ({ tag, data }) => this.#onLocalEvent(tag, data),
    })
    const onDamage = (error: SaltError) => this.#log.error(error.message)
    this.#leave = await checkAfterCrash({
      marker: join(cachedir, '.running'),
      stores: [ReturnSpool.path(spoolDirectory(this.#config)), SeenJobs.path(seenDirectory(this.#config))],
      onDamage,
    })
    const { procs, left } = await ProcTable.open(cachedir)
    this.#procs = procs
    this.#spool = ReturnSpool.open(spoolDirectory(this.#config), { onDamage })
    this.#seen = SeenJobs.open(seenDirectory(this.#config), { onDamage })
    this.#cached = new CachedReturns(cachedReturnsDirectory(this.#config))
    this.#loader = openLoader('modules', { config: this.#config, grains: this.#grains, log: this.#log })
    this.#datastore = new Datastore(cachedir)
    this.#matchers = await openMatchers(this.#config, this.#log)
    this.#pool = new JobPool({
      id,
      config: this.#config,
      facts: () => ({ grains: this.#grains, pillar: this.#pillar }),
      log: this.#log,
      warm: this.#config.multiprocessing ? 1 : 0,
    })
    this.#executor = new JobExecutor({
      id,
      log: this.#log,
      procs: this.#procs,
      pool: this.#pool,
      runHere: (...given) => this.#runHere(...given),
      multiprocessing: this.#config.multiprocessing,
      limit: this.#config.process_count_max,
    })
    this.#reporter = new CatalogueReporter({
      id,
      describe: (awaited) => this.#describe(awaited),
      stamp: () => this.#loader.stamp(),
      log: this.#log,
    })
    await this.#openLinks(transport)
    const owed = new Set(this.#spool.pending().map(({ jid }) => jid))
    for (const link of this.#links) this.#deliverers.set(link, this.#openDeliverer(link))
    this.#track('Following jobs of an earlier run', this.#followOrphans(left, owed))
  }

  #followOrphans(left: readonly ProcFile[], owed: ReadonlySet<string>): Promise<void> {
    return followOrphans(left, owed, {
      id: this.#config.id,
      procs: this.#procs,
      spool: this.#spool,
      log: this.#log,
      closing: this.#closing.signal,
      deliver: (entry) => this.#deliver(entry),
      keep: ({ job, master = '' }, ret) => this.#keep(job, ret, master),
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
      tellMasters: (load) => this.#tellMasters(load),
      refreshModules: () => this.#refreshModules(),
      refreshGrains: () => this.#refreshGrains(link),
    })
  }

  #fileServicesFor(link: MasterLink, options: { readonly unseen?: boolean } = {}) {
    return createFileServices({
      config: this.#config,
      grains: this.#grains,
      log: this.#log,
      request: (load) => link.request(load),
      refreshModules: () => this.#refreshModules(),
      refreshGrains: () => this.#refreshGrains(link),
      ...options,
    })
  }

  async #openLinks(transport: Transport): Promise<void> {
    const keys = await MinionKeys.open(this.#config)
    this.#key = keys.key
    for (const address of await masterAddresses(this.#config)) {
      this.#links.push(
        new MasterLink({
          config: this.#config,
          id: this.#config.id,
          key: keys.key,
          known: keys.master(),
          signingKey: keys.signingKey,
          transport,
          address,
          grains: () => this.#grains,
          log: this.#log,
          onJob: (received, link) => this.#track('A job', this.#onJob(received, link)),
          onReady: (link) => this.#onReady(link),
          onConnection: (state, address) => this.#onConnection(state, address),
          now: Date.now,
        }),
      )
    }
  }

  #onConnection(
    state: 'up' | 'down',
    { host, port }: { readonly host: string; readonly port: number },
  ): void {
    this.#bus.publish(state === 'up' ? tags.masterConnected : tags.masterDisconnected, { master: host })
    const link = this.#links.find(({ address }) => address === `${host}:${port}`)
    if (link) this.#reporter[state === 'up' ? 'connected' : 'disconnected'](link)
  }

  /** One for each master, so that one that is away does not hold up the returns of the others. */
  #openDeliverer(link: MasterLink): Deliverer {
    const { return_retry_timer: min, return_retry_timer_max: max } = this.#config
    return new Deliverer({
      spool: this.#spool,
      owed: this.#spool.pending().filter((entry) => this.#linkOf(entry) === link),
      send: ({ ret }) => link.request(this.#config.minion_sign_messages ? signMessage(ret, this.#key) : ret),
      log: this.#log,
      retry: { min, max },
    })
  }

  #deliver(entry: SpoolEntry): void {
    const link = this.#linkOf(entry)
    if (link) this.#deliverers.get(link)?.deliver(entry)
  }

  /** The master that published the job; if it is no longer configured, the first one. */
  #linkOf({ master }: SpoolEntry): MasterLink | undefined {
    return this.#links.find(({ address }) => address === master) ?? this.#links[0]
  }

  async #onReady(link: MasterLink): Promise<void> {
    await this.#loadPillar(link)
    await this.#autoload(link)
    const { id } = this.#config
    const data = `Minion ${id} started at ${strftime('%a %b %e %H:%M:%S %Y', new Date())}`
    const names = this.#config.start_event_grains.filter((name) => Object.hasOwn(this.#grains, name))
    const grains = Object.fromEntries(names.map((name) => [name, this.#grains[name]]))
    const started = this.#config.enable_legacy_startup_events ? [tags.minionStartLegacy] : []
    for (const tag of [...started, tags.minionStart(id)]) {
      await link.request(makeMinionEvent(id, { tag, data }, names.length ? { grains } : {}))
    }
    this.#log.info(`Minion ${id} is ready to receive jobs from ${link.address}`)
  }

  /** Extensions, of the master that is first, are there before the minion says that it has started, unless that takes long. */
  async #autoload(link: MasterLink): Promise<void> {
    if (!this.#config.autoload_dynamic_modules || this.#autoloaded) return
    this.#autoloaded = true
    const synced = this.#fileServicesFor(link, { unseen: true })
      .sync({})
      .catch((error: unknown) => this.#log.warn(`Extensions were not synced: ${messageOf(error)}`))
    await Promise.race([synced, delay(AUTOLOAD_MS, undefined, { ref: false })])
  }

  async #loadPillar(link: MasterLink): Promise<void> {
    const pillar = await fetchPillar(link, this.#config, this.#grains)
    if (isDeepStrictEqual(pillar, this.#pillar)) return
    this.#pillar = pillar
    this.#pool.refresh() // its processes were given the one before
  }

  async #onJob({ job, words, serial, keyDigest }: ReceivedJob, link: MasterLink): Promise<void> {
    if (!this.#isFor(job)) return
    const fresh = await this.#seen.accept({ keyDigest, serial, jid: job.jid, now: Date.now() })
    if (!fresh) return this.#log.warn(`Ignored job ${job.jid}: it has been seen before.`)
    if (job.fun === CHECK)
      return answerCheck(job, words, { id: this.#config.id, link, check: (calls) => this.#check(calls) })
    this.#log.info(`User ${job.user ?? 'unknown'} Executing command ${String(job.fun)} with jid ${job.jid}`)
    const master = link.address
    const keep = (ret: ReturnLoad) => this.#keep(job, ret, master)
    let over = () => {}
    const began = () => {
      if (this.#config.job_start_events) over = this.#receipts.began(job, link)
    }
    const around = { services: this.#servicesFor(link), master, words, keep, began }
    await this.#executor.run(job, around).finally(() => over())
  }

  /** As jobs are run: in a process of their own, or here. */
  #check(calls: readonly PublishedCall[]) {
    return this.#config.multiprocessing ? this.#pool.check(calls) : refusalsHere(calls, this.#loader)
  }

  #describe(awaited: boolean): Promise<Catalogue | undefined> {
    return this.#config.multiprocessing ? this.#pool.describe(awaited) : this.#loader.describe()
  }

  /** The return is on disk before the job is over, and is sent from there. */
  async #keep(job: JobLoad, ret: ReturnLoad, master: string): Promise<void> {
    const { jid } = job
    this.#log.info(`Returning information for job: ${jid}`)
    if (this.#config.cache_jobs) await this.#cached.save(jid, ret)
    const shown = { ...job, arg: ret.fun_args }
    const entry = this.#config.pub_ret ? await this.#spool.add({ jid, master, job: shown, ret }) : undefined
    await this.#procs.remove(jid)
    if (entry) this.#deliver(entry)
  }

  #isFor({ tgt, tgt_type, delimiter }: JobLoad): boolean {
    const datastore = this.#datastore
    const subject = {
      ...{ id: this.#config.id, grains: this.#grains, pillar: this.#pillar },
      get data() {
        return datastore.read()
      },
    }
    return this.#matchers.match({ tgt, tgt_type, ...(delimiter && { delimiter }) }, subject) === true
  }

  async #runHere(
    job: JobLoad,
    { services, words, onShown }: Parameters<ExecutorSettings['runHere']>[1],
    signal: AbortSignal,
  ): Promise<ReturnLoad> {
    const { id } = this.#config
    const settings: RunnerSettings = {
      id,
      config: this.#config,
      grains: this.#grains,
      pillar: this.#pillar,
      loader: this.#loader,
      services,
      match: await openMatch({
        config: this.#config,
        id,
        grains: this.#grains,
        pillar: this.#pillar,
        datastore: this.#datastore,
        log: this.#log,
      }),
      log: this.#log,
      onShown,
    }
    return runJob(job, settings, signal, words)
  }

  #track(what: string, work: Promise<void>): void {
    const guarded = work.catch((error: unknown) => this.#log.error(`${what} failed: ${messageOf(error)}`))
    this.#working.add(guarded)
    void guarded.finally(() => this.#working.delete(guarded))
  }

  /** Resolves with the first answer; a master that is away gets it later. */
  #tellMasters(load: Readonly<Record<string, unknown>>): Promise<unknown> {
    return firstOf(this.#links.map((link) => link.request(load)))
  }

  /** Done when the next job has the new code, and the masters know what it offers, so that they judge jobs by that. */
  async #refreshModules(): Promise<void> {
    await this.#reload()
    await this.#reporter.refreshNow()
  }

  async #reload(): Promise<void> {
    await this.#loader.reload()
    this.#matchers = await openMatchers(this.#config, this.#log)
    this.#pool.refresh()
    this.#bus.publish(tags.moduleRefreshDone, { complete: true })
  }

  /** Done when the master that asked for it knows the grains, or else the first one; the others are told meanwhile. */
  async #refreshGrains(asking?: MasterLink): Promise<void> {
    this.#grains = await collectGrains(this.#config, this.#log)
    await this.#reload()
    const told = this.#reporter.refreshNow()
    const links = this.#links.filter((link) => link.isSignedIn) // the others get them when they sign in
    const loads = new Map(links.map((link) => [link, this.#loadPillar(link)]))
    for (const [{ address }, load] of loads) {
      load.catch((error: unknown) =>
        this.#log.warn(`The master ${address} was not told the grains: ${messageOf(error)}`),
      )
    }
    if (loads.size) await ((asking && loads.get(asking)) ?? firstOf([...loads.values()]))
    await told
    this.#bus.publish(tags.pillarRefreshDone, { complete: true })
  }

  /** Control tags on the minion's own bus (wire protocol §11). */
  #onLocalEvent(tag: string, data: Record<string, unknown>): void {
    const work =
      tag === tags.moduleRefresh
        ? () => this.#refreshModules()
        : tag === tags.grainsRefresh || tag === tags.pillarRefresh
          ? () => this.#refreshGrains()
          : tag === tags.fireMaster
            ? () => this.#forward(data)
            : undefined
    if (work) this.#track(`What ${tag} asks for`, work())
  }

  async #forward(data: Record<string, unknown>): Promise<void> {
    const { tag, data: inner, events, pretag } = data
    const content = Array.isArray(events)
      ? { events }
      : { tag: String(tag), data: isRecord(inner) ? inner : { data: inner } }
    await this.#tellMasters(makeMinionEvent(this.#config.id, content, { pretag }))
  }
}

/** What comes first of several; if nothing does, the first reason. */
const firstOf = <T>(asked: readonly Promise<T>[]): Promise<T> =>
  Promise.any(asked).catch((error: AggregateError) => Promise.reject(error.errors[0]))
