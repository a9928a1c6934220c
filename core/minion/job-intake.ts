import type { Log, MinionServices } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import type { ReceivedJob } from '../channel/subscription.ts'
import type { MinionConfig } from '../config/index.ts'
import type { PrivateKey } from '../crypto/index.ts'
import type { CachedReturns } from '../jobs/cached-returns.ts'
import { type ReturnSpool, returnersOf, type SpoolEntry, type SpooledReturn } from '../jobs/return-spool.ts'
import type { SeenJobs } from '../jobs/seen-jobs.ts'
import { type Loader, type PublishedCall, refusalsHere } from '../loader/index.ts'
import { givenOptionsRefusal, type ReturnerProcesses } from '../returners/index.ts'
import { CHECK } from '../wire/catalogue.ts'
import { signMessage } from '../wire/message-signature.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import { acceptJob } from './acceptance.ts'
import { answerCheck } from './call-check.ts'
import { Deliverer } from './deliverer.ts'
import { executorRefusal } from './executors.ts'
import type { Facts } from './facts.ts'
import { failedReturn } from './failed-return.ts'
import { type ExecutorSettings, JobExecutor } from './job-executor.ts'
import { type JobPool, unbegun } from './job-pool.ts'
import { runJob } from './job-runner.ts'
import { type Watchers, watchJob } from './job-watch.ts'
import type { MasterLink } from './master-link.ts'
import { followOrphans } from './orphans.ts'
import type { ProcFile, ProcTable } from './proc-table.ts'
import { traceRun } from './run-span.ts'
import { keepSafe } from './safekeeping.ts'
import { StartReceipts } from './start-receipts.ts'

export interface IntakeSettings extends Watchers {
  readonly config: MinionConfig
  readonly log: Log
  readonly facts: Facts
  readonly key: PrivateKey
  readonly links: readonly MasterLink[]
  readonly loader: Loader
  readonly pool: JobPool
  readonly procs: ProcTable
  readonly spool: ReturnSpool
  readonly seen: SeenJobs
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

  /** Begins with the returns that are in the spool. */
  constructor(settings: IntakeSettings) {
    const { config, log, procs, pool, links } = settings
    this.#settings = settings
    this.#receipts = new StartReceipts({ id: config.id, log })
    this.#executor = new JobExecutor({
      id: config.id,
      log,
      procs,
      pool,
      runHere: (...given) => this.#runHere(...given),
      multiprocessing: config.multiprocessing,
      limit: config.process_count_max,
    })
    this.#deliverers = new Map(links.map((link) => [link, this.#openDeliverer(link)]))
  }

  async onJob({ job, words, serial, keyDigest }: ReceivedJob, link: MasterLink): Promise<void> {
    const { config, facts, seen, log, servicesFor, returners } = this.#settings
    if (!facts.isMeantBy(job)) return
    const publication = { keyDigest, serial, jid: job.jid, now: Date.now() }
    const acceptance = await acceptJob(seen, publication, job.fun)
    if (acceptance === 'seen') return log.warn(`Ignored job ${job.jid}: it has been seen before.`)
    if (acceptance !== 'run') return this.#refuse(job, acceptance.refused, link)
    const wrong = executorRefusal(job.module_executors)
    if (wrong !== undefined) return this.#refuse({ ...job, ret: '' }, wrong, link)
    if (job.fun === CHECK)
      return answerCheck(job, words, { id: config.id, link, check: (calls) => this.#check(calls) })
    log.info(`User ${job.user ?? 'unknown'} Executing command ${String(job.fun)} with jid ${job.jid}`)
    const master = link.address
    let isUsable = true
    const over = watchJob(this.#settings, job, config.id)
    const keep = async (ret: ReturnLoad) => {
      await this.#keep(isUsable ? job : { ...job, ret: '' }, ret, master)
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
    const around = { services: servicesFor(link), master, words, keep, began }
    await this.#executor.run(job, job.ret === '' ? around : { ...around, refusal }).finally(() => told())
  }

  /** Jobs of an earlier life of the minion; `owed` are those whose return was in the spool. */
  followOrphans(left: readonly ProcFile[], owed: ReadonlySet<string>): Promise<void> {
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

  /** Nothing more is told of jobs that run; returns on their way have `ms` to arrive. */
  async close(ms: number): Promise<void> {
    this.#receipts.close()
    await Promise.all(Array.from(this.#deliverers.values(), (deliverer) => deliverer.close(ms)))
  }

  /** One for each master, so that one that is away does not hold up the returns of the others. */
  #openDeliverer(link: MasterLink): Deliverer {
    const { config, spool, log } = this.#settings
    const { return_retry_timer: min, return_retry_timer_max: max } = config
    return new Deliverer({
      spool,
      owed: spool.pending().filter((entry) => this.#linkOf(entry) === link),
      send: (entry) => link.request(this.#signed(entry)),
      log,
      retry: { min, max },
    })
  }

  #deliver(entry: SpoolEntry): void {
    const link = this.#linkOf(entry)
    if (link) this.#deliverers.get(link)?.deliver(entry)
  }

  /** The master that published the job; if it is no longer configured, the first one. */
  #linkOf({ master }: SpooledReturn): MasterLink | undefined {
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
    return config.multiprocessing ? pool.check(calls) : refusalsHere(calls, loader)
  }

  /**
   * The return is on disk, or with the master, before the job is over. Until then it is known, also if it was refused or
   * answered here: who waits for it must not hear that there is no such job, which is taken for a lost one.
   */
  async #keep(job: JobLoad, ret: ReturnLoad, master: string): Promise<void> {
    const { config, log, cached, procs, returners } = this.#settings
    const { jid } = job
    log.info(`Returning information for job: ${jid}`)
    if (config.cache_jobs) await cached.save(jid, ret).catch((error: unknown) => this.#uncached(jid, error))
    const shown = { ...job, arg: ret.fun_args }
    if (!procs.get(jid))
      await procs.add({ job: unbegun(job), pid: undefined, isReturning: true, stop: () => {} })
    const entry = config.pub_ret ? await this.#keepSafe({ jid, master, job: shown, ret }) : undefined
    await procs.remove(jid)
    if (entry) this.#deliver(entry)
    if (job.ret !== '' || config.return !== undefined) returners?.wake()
  }

  #uncached(jid: string, error: unknown): void {
    this.#settings.log.warn(`The return of job ${jid} is not kept for cache_jobs: ${messageOf(error)}`)
  }

  #keepSafe(ret: SpooledReturn): Promise<SpoolEntry | undefined> {
    const { spool, log, closing } = this.#settings
    const send = async (ret: SpooledReturn) => this.#linkOf(ret)?.request(this.#signed(ret))
    return keepSafe(ret, { spool, send, log, closing })
  }

  #signed({ ret }: SpooledReturn): SpooledReturn['ret'] {
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
    const settings = { id: config.id, config, grains, pillar, loader, services, match, log, onShown }
    return traceRun(tracer, job, config.id, () => runJob(job, settings, signal, words))
  }
}
