import { availableParallelism } from 'node:os'
import type { Log, MinionServices } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { garbageCollector } from '../base/garbage-collector.ts'
import type { SteadyTime } from '../base/steady-time.ts'
import type { ReceivedJob } from '../channel/subscription.ts'
import type { MinionConfig } from '../config/index.ts'
import type { PrivateKey } from '../crypto/index.ts'
import type { CachedReturns } from '../jobs/cached-returns.ts'
import { type ReturnSpool, returnersOf, type SpoolEntry, type SpooledReturn } from '../jobs/return-spool.ts'
import { begun, type ReceivedJob as OwedJob, type SeenJobs } from '../jobs/seen-jobs.ts'
import { type Loader, type PublishedCall, refusalsHere } from '../loader/index.ts'
import { givenOptionsRefusal, type ReturnerProcesses } from '../returners/index.ts'
import { CHECK } from '../wire/catalogue.ts'
import { signMessage } from '../wire/message-signature.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import { type JobWords, readJobWords } from '../wire/typed-words.ts'
import { acceptJob } from './acceptance.ts'
import { answerCheck } from './call-check.ts'
import type { ControlFunctions } from './control-functions.ts'
import { Deliverer } from './deliverer.ts'
import { Executors, namesExecutors } from './executors.ts'
import type { Facts } from './facts.ts'
import { failedReturn } from './failed-return.ts'
import { type ExecutorSettings, JobExecutor, type Place } from './job-executor.ts'
import { type JobPool, unbegun } from './job-pool.ts'
import { runJob } from './job-runner.ts'
import { type Watchers, watchJob } from './job-watch.ts'
import { Leftovers } from './leftovers.ts'
import type { MasterLink } from './master-link.ts'
import { followOrphans } from './orphans.ts'
import type { ProcEntry, ProcTable } from './proc-table.ts'
import { traceRun } from './run-span.ts'
import { keepSafe } from './safekeeping.ts'
import { StartReceipts } from './start-receipts.ts'
import { guard } from './uncaught.ts'

export interface IntakeSettings extends Watchers {
  readonly config: MinionConfig
  readonly log: Log
  readonly facts: Facts
  readonly key: PrivateKey
  readonly links: readonly MasterLink[]
  readonly loader: Loader
  readonly control: Pick<ControlFunctions, 'has'>
  readonly pool: JobPool
  readonly procs: ProcTable
  readonly spool: ReturnSpool
  readonly seen: SeenJobs
  /** The clock by which accepted jobs are forgotten. */
  readonly time: Pick<SteadyTime, 'now'>
  /** What an earlier life of the minion accepted and did not begin; see {@link JobIntake.resume}. */
  readonly waited: readonly OwedJob[]
  readonly cached: CachedReturns
  readonly returners: ReturnerProcesses | undefined
  /** What jobs of a master may ask of the minion. */
  servicesFor(link: MasterLink): MinionServices
  readonly closing: AbortSignal
}

/** Takes jobs of the masters, has them run or refuses them, and brings each of them a return. */
export class JobIntake {
  readonly #settings: IntakeSettings
  readonly #executor: JobExecutor
  readonly #receipts: StartReceipts
  readonly #deliverers: ReadonlyMap<MasterLink, Deliverer>
  readonly #leftovers: Leftovers
  /** Jobs of an earlier life of the minion that have not begun. */
  #waited: readonly OwedJob[]

  /** When the last job was taken, or ended, by `performance.now()`. */
  #lastJob = performance.now()

  /** Begins with the returns that are in the spool. */
  constructor(settings: IntakeSettings) {
    const { config, log, procs, pool, links } = settings
    this.#settings = settings
    this.#waited = settings.waited
    this.#receipts = new StartReceipts({ id: config.id, log })
    this.#executor = new JobExecutor({
      id: config.id,
      log,
      procs,
      pool,
      answersHere: (job) => this.#answersHere(job),
      runHere: (...given) => this.#runHere(...given),
      multiprocessing: config.multiprocessing,
      limit: config.process_count_max ?? defaultLimit(),
      closing: settings.closing,
    })
    this.#deliverers = new Map(links.map((link) => [link, this.#openDeliverer(link)]))
    this.#leftovers = new Leftovers({
      spool: settings.spool,
      deliverers: [...this.#deliverers.values()],
      procs,
      deliver: (entry) => this.#deliver(entry),
      log,
    })
  }

  async onJob({ job, words, serial, keyDigest }: ReceivedJob, link: MasterLink): Promise<void> {
    const { facts, seen, log, control, time } = this.#settings
    if (!facts.isMeantBy(job))
      return log.trace('Broadcast message received not for this minion, jid {jid}', { jid: job.jid })
    this.#lastJob = performance.now()
    const isCheck = job.fun === CHECK
    const place = this.#executor.place(job)
    const publication = { keyDigest, serial, jid: job.jid, now: time.now() }
    const owed = { job, master: link.address, words, begun: false }
    const acceptance = await acceptJob(
      seen,
      publication,
      job.fun,
      control,
      isCheck ? undefined : place.waits ? owed : begun(owed),
    )
    if (acceptance !== 'run' || isCheck) place.leave()
    if (acceptance === 'seen') return log.warn(`Ignored job ${job.jid}: it has been seen before.`)
    if (acceptance !== 'run') return this.#refuse(job, acceptance.refused, link)
    if (isCheck) return this.#answerCheck(job, words, link)
    await this.#run(job, words, place, link)
  }

  /** Jobs that an earlier life of the minion accepted, and which had to wait. */
  async resume(link: MasterLink): Promise<void> {
    const waited = this.#waited.filter((owed) => this.#linkOf({ master: owed.master }) === link)
    this.#waited = this.#waited.filter((owed) => !waited.includes(owed))
    const jobs = waited.map(({ job, words }) => ({
      job: job as unknown as JobLoad,
      words: readJobWords(words),
    }))
    const placed = jobs.map(({ job, words }) => ({ job, words, place: this.#executor.place(job) }))
    if (placed.length > 0) {
      const { log } = this.#settings
      log.info(`${placed.length} jobs that waited when the minion ended take their turn now.`)
    }
    await Promise.all(
      placed.map(({ job, words, place }) => this.#run(job, words, { ...place, waits: true }, link)),
    )
  }

  #answerCheck(job: JobLoad, words: JobWords | undefined, link: MasterLink): Promise<void> {
    const { id } = this.#settings.config
    return answerCheck(job, words, { id, link, check: (calls) => this.#check(calls) })
  }

  async #run(job: JobLoad, words: JobWords | undefined, place: Place, link: MasterLink): Promise<void> {
    const { config, seen, spool, log, servicesFor, returners } = this.#settings
    log.info(`User ${job.user ?? 'unknown'} Executing command ${String(job.fun)} with jid ${job.jid}`)
    const master = link.address
    let isUsable = true
    const over = watchJob(this.#settings, job, config.id)
    const keep = async (ret: ReturnLoad, spooled?: SpoolEntry['key']) => {
      await this.#keep(isUsable ? job : { ...job, ret: '' }, ret, master, spooled)
      over(ret, isUsable ? 'ran' : 'refused')
    }
    const refusal = async () => {
      const targets = returnersOf(job)
      const why =
        givenOptionsRefusal(targets, config.returner_kwargs_allowed) ?? (await returners?.check(targets))
      if (why !== undefined) log.error(`Refused job ${job.jid}: ${why}`)
      isUsable = why === undefined
      return why
    }
    let told = () => {}
    const began = () => {
      if (config.job_start_events) told = this.#receipts.began(job, link)
    }
    const beginning = () => seen.begin(job.jid)
    const leftBehind = () => spool.first(job.jid)
    const around = { services: servicesFor(link), master, words, keep, leftBehind, beginning, began }
    await this.#executor
      .run(job, place, job.ret === '' ? around : { ...around, refusal })
      .finally(() => told())
  }

  /** Jobs of an earlier life of the minion that may have begun; `owed` are those whose return was in the spool. */
  followOrphans(left: readonly ProcEntry[], owed: ReadonlySet<string>): Promise<void> {
    const { config, procs, spool, log, closing } = this.#settings
    return followOrphans(left, owed, {
      id: config.id,
      procs,
      spool,
      log,
      closing,
      deliver: (entry) => this.#deliver(entry),
      keep: ({ job, master = '' }, ret) => this.#keep(job, ret, master),
    })
  }

  /** Time without a job. Milliseconds. */
  idleFor(): number {
    return this.#settings.procs.size > 0 ? 0 : performance.now() - this.#lastJob
  }

  /** Nothing more is told of jobs that run; returns on their way have `ms` to arrive. */
  async close(ms: number): Promise<void> {
    this.#receipts.close()
    this.#leftovers.close()
    await Promise.all(Array.from(this.#deliverers.values(), (deliverer) => deliverer.close(ms)))
  }

  /** One for each master, so that one that is away does not hold up the returns of the others. */
  #openDeliverer(link: MasterLink): Deliverer {
    const { config, spool, log } = this.#settings
    const { return_retry_timer: min, return_retry_timer_max: max } = config
    return new Deliverer({
      spool,
      owed: spool.pending().filter((entry) => this.#linkOf(entry) === link),
      send: (ret) => link.request(this.#signed(ret)),
      collect: garbageCollector(),
      log,
      retry: { min, max },
    })
  }

  #deliver(entry: SpoolEntry): void {
    const link = this.#linkOf(entry)
    if (link) this.#deliverers.get(link)?.deliver(entry)
  }

  /** The master that published the job; if it is no longer configured, the first one. */
  #linkOf({ master }: Pick<SpooledReturn, 'master'>): MasterLink | undefined {
    const { links } = this.#settings
    return links.find(({ address }) => address === master) ?? links[0]
  }

  async #refuse(job: JobLoad, why: string, { address }: MasterLink): Promise<void> {
    const { config, log } = this.#settings
    const over = watchJob(this.#settings, job, config.id)
    log.error(`Refused job ${job.jid}: ${why}`)
    const ret = failedReturn(unbegun(job), config.id, why)
    await this.#keep(job, ret, address)
    over(ret, 'refused')
  }

  /** As jobs are run: in a process of their own, or here. */
  #check(calls: readonly PublishedCall[]) {
    const { config, pool, loader } = this.#settings
    return config.multiprocessing
      ? pool.check(calls)
      : refusalsHere(calls, loader, this.#executors().isElsewhere)
  }

  /**
   * The return is on disk, or with the master, before the job is over. Until then it is known, also if it was refused or
   * answered here: who waits for it must not hear that there is no such job, which is taken for a lost one.
   */
  async #keep(job: JobLoad, ret: ReturnLoad, master: string, spooled?: SpoolEntry['key']): Promise<void> {
    const { config, log, cached, procs, returners, spool } = this.#settings
    const { jid } = job
    log.debug('minion return: {ret}', { ret })
    log.info(`Returning information for job: ${jid}`)
    if (config.cache_jobs) await cached.save(jid, ret).catch((error: unknown) => this.#uncached(jid, error))
    const shown = { ...job, arg: ret.fun_args }
    if (!procs.get(jid))
      await procs.add({ job: unbegun(job), process: undefined, isReturning: true, stop: () => {} })
    const keepSafe = () =>
      config.pub_ret ? this.#keepSafe({ jid, master, job: shown, ret }) : Promise.resolve(undefined)
    const entry = spooled ? spool.at(spooled) : await keepSafe()
    await procs.remove(jid)
    this.#lastJob = performance.now()
    if (entry) this.#deliver(entry)
    else await this.#settle(jid)
    if (job.ret !== '' || config.return !== undefined) returners?.wake()
  }

  /** The return is with the master, or not wanted. While nothing can be stored, the job was not stored either. */
  async #settle(jid: string): Promise<void> {
    const { seen, log } = this.#settings
    await seen.settle(jid).catch((error: unknown) => log.debug(messageOf(error)))
  }

  #uncached(jid: string, error: unknown): void {
    this.#settings.log.warn(`The return of job ${jid} is not kept for cache_jobs: ${messageOf(error)}`)
  }

  #keepSafe(ret: SpooledReturn): Promise<SpoolEntry | undefined> {
    const { spool, log, closing } = this.#settings
    const send = async (ret: SpooledReturn) => this.#linkOf(ret)?.request(this.#signed(ret.ret))
    return keepSafe(ret, { spool, send, log, closing })
  }

  #signed(ret: SpooledReturn['ret']): SpooledReturn['ret'] {
    const { config, key } = this.#settings
    return config.minion_sign_messages ? signMessage(ret, key) : ret
  }

  async #runHere(
    job: JobLoad,
    { services, words, onShown }: Parameters<ExecutorSettings['runHere']>[1],
    signal: AbortSignal,
  ): Promise<ReturnLoad> {
    const { config, facts, loader, log, tracer } = this.#settings
    const { grains, pillar } = facts
    const match = await facts.openMatch()
    const isControl = this.#answersHere(job)
    const executors = isControl ? undefined : this.#executors()
    const settings = {
      id: config.id,
      config,
      grains,
      pillar,
      loader,
      executors,
      services,
      match,
      log,
      onShown,
    }
    const abort = new AbortController()
    const either = AbortSignal.any([signal, abort.signal])
    const run = () => traceRun(tracer, job, config.id, () => runJob(job, settings, either, words))
    const failed = (reason: string) => failedReturn(unbegun(job), config.id, reason)
    return isControl ? run() : guard(run, { abort, log, failed })
  }

  /** Whether the minion answers a job itself, whatever executors the configuration names. */
  #answersHere(job: JobLoad): boolean {
    return this.#settings.control.has(job.fun) && !namesExecutors(job)
  }

  #executors(): Executors {
    const { config, facts, log } = this.#settings
    return new Executors({ config, grains: facts.grains, pillar: facts.pillar, log, ofJobs: true })
  }
}

/** Jobs at once where the configuration does not say: each is a process of its own, which may well only wait for something. */
const defaultLimit = (): number => Math.max(16, 8 * availableParallelism())
