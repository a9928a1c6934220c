import { availableParallelism } from 'node:os'
import type { Log, MinionServices } from '../../author/context.ts'
import type { SteadyTime } from '../../base/steady-time.ts'
import type { ReceivedPublication } from '../../channel/subscription.ts'
import type { MinionConfig } from '../../config/index.ts'
import { type ReturnSpool, returnersOf, type SpoolEntry } from '../../jobs/return-spool.ts'
import { markBegun, type SeenJobs, type PendingJob as StoredJob } from '../../jobs/seen-jobs.ts'
import { type Loader, type PublishedCall, refusalsHere } from '../../loader/index.ts'
import { givenOptionsRefusal, type ReturnerProcesses } from '../../outbox/index.ts'
import { CHECK_FUNCTION } from '../../wire/catalogue.ts'
import type { JobLoad } from '../../wire/publication.ts'
import { type RawArguments, readRawArguments } from '../../wire/raw-arguments.ts'
import type { ReturnLoad } from '../../wire/return.ts'
import type { ControlFunctions } from '../control-functions.ts'
import type { Facts } from '../facts.ts'
import { JobStartEvents } from '../link/job-start-events.ts'
import type { MasterConnection } from '../link/master-connection.ts'
import { acceptJob } from './acceptance.ts'
import { answerCheck } from './call-check.ts'
import { Executors, namesExecutors } from './executors.ts'
import { failedReturn, withoutArguments } from './failed-return.ts'
import { JobExecutor, type JobSlot } from './job-executor.ts'
import type { JobPool } from './job-pool.ts'
import { type JobInstruments, observeJob } from './job-watch.ts'
import type { ProcTable } from './proc-table.ts'
import type { ReturnDelivery } from './return-delivery.ts'
import { runInMinion } from './run-in-minion.ts'
import { takeJob } from './take-job.ts'

export interface IntakeSettings extends JobInstruments {
  readonly config: MinionConfig
  readonly log: Log
  readonly facts: Facts
  readonly loader: Loader
  readonly control: Pick<ControlFunctions, 'has'>
  readonly pool: JobPool
  readonly procs: ProcTable
  readonly spool: ReturnSpool
  readonly seen: SeenJobs
  /** The clock by which records of accepted jobs expire. */
  readonly time: Pick<SteadyTime, 'now'>
  readonly returns: ReturnDelivery
  /** Jobs that an earlier run of the minion accepted and did not begin; see {@link JobIntake.resume}. */
  readonly waiting: readonly StoredJob[]
  readonly returners: ReturnerProcesses | undefined
  /** Services of the minion for jobs of one master. */
  servicesFor(connection: MasterConnection, job: JobLoad): MinionServices
  /** Aborts when the minion closes. */
  readonly closing: AbortSignal
}

const MAX_MISSED = 10_000

/** Accepts or refuses the jobs that masters publish, and runs them. */
export class JobIntake {
  readonly #settings: IntakeSettings
  readonly #executor: JobExecutor
  readonly #startEvents: JobStartEvents
  #waiting: readonly StoredJob[]
  /** Jobs that the master repeated on request, some of the latest. */
  readonly #missed = new Set<string>()
  /** Time of the last job, by `performance.now()`. */
  #lastJobAt = performance.now()

  constructor(settings: IntakeSettings) {
    const { config, log, procs, pool, closing, waiting } = settings
    this.#settings = settings
    this.#waiting = waiting
    this.#startEvents = new JobStartEvents({ id: config.id, log })
    this.#executor = new JobExecutor({
      id: config.id,
      log,
      procs,
      pool,
      answersHere: (job) => this.#answersHere(job),
      runHere: (job, environment, signal) => {
        const executors = this.#answersHere(job) ? undefined : this.#executors()
        return runInMinion(job, environment, signal, { ...settings, executors })
      },
      multiprocessing: config.multiprocessing,
      limit: config.process_count_max ?? defaultLimit(),
      closing,
    })
  }

  async onJob(
    { job, words, serial, keyDigest, isRepeated = false }: ReceivedPublication,
    connection: MasterConnection,
  ): Promise<void> {
    const { facts, seen, log, control, time } = this.#settings
    if (!facts.isTargetedBy(job))
      return log.trace('Broadcast message received not for this minion, jid {jid}', { jid: job.jid })
    this.#lastJobAt = performance.now()
    const isCheck = job.fun === CHECK_FUNCTION
    const slot = this.#executor.enqueue(job)
    const publication = { keyDigest, serial, jid: job.jid, now: time.now() }
    const received = { job, master: connection.address, words, begun: false }
    const mustTake = this.#mustTake(job)
    const stored = slot.waits || mustTake ? received : markBegun(received)
    const acceptance = await acceptJob(seen, publication, job.fun, control, isCheck ? undefined : stored)
    if (acceptance !== 'run' || isCheck) slot.release()
    if (acceptance === 'seen') return this.#ignore(job, isRepeated)
    if (isRepeated) {
      log.info(`Job ${job.jid} was published while this minion was not connected.`)
      if (this.#missed.size >= MAX_MISSED) this.#missed.clear()
      this.#missed.add(job.jid)
    }
    if (acceptance !== 'run') return this.#refuse(job, acceptance.refused, connection)
    if (isCheck) return this.#answerCheck(job, words, connection)
    if (!mustTake) return this.#run(job, words, slot, connection)
    slot.release()
    await this.#takeAndRun(job, words, connection)
  }

  /** Run a job of the minion itself in this process. Its return goes to nobody. */
  runHere(job: JobLoad, services: MinionServices): Promise<ReturnLoad> {
    const { closing } = this.#settings
    const executors = this.#executors()
    return runInMinion(job, { services, onShown: async () => {} }, closing, { ...this.#settings, executors })
  }

  /** Ignore a job that was seen before. A missed job that the master repeated on request may cross its publication. */
  #ignore({ jid }: JobLoad, isRepeated: boolean): void {
    const { log } = this.#settings
    if (isRepeated) return
    if (this.#missed.has(jid))
      log.debug(`Ignored the publication of job ${jid}: it was received as a missed job.`)
    else log.warn(`Ignored job ${jid}: it has been seen before.`)
  }

  /** Whether the master is asked before a job begins. In generation 2 it gives no jobs later, so it is not asked either. */
  #mustTake({ deliver_until }: JobLoad): boolean {
    return deliver_until !== undefined && this.#settings.config.minimum_auth_version >= 3
  }

  /** Run a job that is on disk, unless the master refuses that. */
  async #takeAndRun(
    job: JobLoad,
    words: RawArguments | undefined,
    connection: MasterConnection,
  ): Promise<void> {
    const { config, seen, log, closing } = this.#settings
    const answer = await takeJob(job, { id: config.id, connection, log, closing })
    if (answer === undefined) return // left to the next run of the minion
    if (answer === 'delivered') return this.#runFromDisk(job, words, connection)
    log.info(`Job ${job.jid} is not run. State of the job on the master: ${answer}.`)
    await seen.settle(job.jid)
  }

  /** Run the jobs of a master that an earlier run of the minion accepted but did not begin. */
  async resume(connection: MasterConnection): Promise<void> {
    const { returns, log } = this.#settings
    const waiting = this.#waiting.filter((stored) => returns.connectionOf(stored) === connection)
    this.#waiting = this.#waiting.filter((stored) => !waiting.includes(stored))
    const runs = waiting.map((stored) => {
      const job = stored.job as unknown as JobLoad
      const words = readRawArguments(stored.words)
      if (this.#mustTake(job)) return this.#takeAndRun(job, words, connection)
      return this.#runFromDisk(job, words, connection)
    })
    if (runs.length > 0)
      log.info(`${runs.length} jobs that were waiting when the minion ended are queued again.`)
    await Promise.all(runs)
  }

  /** Return the milliseconds since the minion last had a job. */
  idleFor(): number {
    const { procs, returns } = this.#settings
    return procs.size > 0 ? 0 : performance.now() - Math.max(this.#lastJobAt, returns.lastReturnAt)
  }

  /** Send no more start events of jobs. */
  close(): void {
    this.#startEvents.close()
  }

  /** Run a job whose record says that it has not begun. */
  #runFromDisk(job: JobLoad, words: RawArguments | undefined, connection: MasterConnection): Promise<void> {
    return this.#run(job, words, { ...this.#executor.enqueue(job), waits: true }, connection)
  }

  async #run(
    job: JobLoad,
    words: RawArguments | undefined,
    slot: JobSlot,
    connection: MasterConnection,
  ): Promise<void> {
    const { config, seen, spool, log, returns, servicesFor } = this.#settings
    log.info(`User ${job.user ?? 'unknown'} Executing command ${String(job.fun)} with jid ${job.jid}`)
    const master = connection.address
    const finished = observeJob(this.#settings, job, config.id)
    let refused = false
    const refusal = async () => {
      const why = await this.#returnersRefusal(job)
      refused = why !== undefined
      return why
    }
    const persist = async (ret: ReturnLoad, spooled?: SpoolEntry['key']) => {
      await returns.persist(refused ? { ...job, ret: '' } : job, ret, master, spooled)
      finished(ret, refused ? 'refused' : 'ran')
    }
    let cancelStartEvent = () => {}
    const began = () => {
      if (config.job_start_events) cancelStartEvent = this.#startEvents.began(job, connection)
    }
    await this.#executor
      .run(job, slot, {
        services: servicesFor(connection, job),
        master,
        words,
        ...(job.ret !== '' && { refusal }),
        findSpooled: () => spool.first(job.jid),
        beginning: () => seen.begin(job.jid),
        began,
        persist,
      })
      .finally(() => cancelStartEvent())
  }

  /** Resolves with the reason why the returners that a job names (`--return`) cannot accept its return; undefined if they can. */
  async #returnersRefusal(job: JobLoad): Promise<string | undefined> {
    const { config, log, returners } = this.#settings
    const targets = returnersOf(job)
    const why =
      givenOptionsRefusal(targets, config.returner_kwargs_allowed) ?? (await returners?.check(targets))
    if (why !== undefined) log.error(`Refused job ${job.jid}: ${why}`)
    return why
  }

  async #refuse(job: JobLoad, why: string, { address }: MasterConnection): Promise<void> {
    const { config, log, returns } = this.#settings
    const finished = observeJob(this.#settings, job, config.id)
    log.error(`Refused job ${job.jid}: ${why}`)
    const ret = failedReturn(withoutArguments(job), config.id, why)
    await returns.persist(job, ret, address)
    finished(ret, 'refused')
  }

  #answerCheck(job: JobLoad, words: RawArguments | undefined, connection: MasterConnection): Promise<void> {
    const { id } = this.#settings.config
    return answerCheck(job, words, { id, connection, check: (calls) => this.#check(calls) })
  }

  /** Check calls where jobs run: in a job process, or in the minion process. */
  #check(calls: readonly PublishedCall[]) {
    const { config, pool, loader } = this.#settings
    return config.multiprocessing
      ? pool.check(calls)
      : refusalsHere(calls, loader, this.#executors().isElsewhere)
  }

  /** Whether a job is a control function that names no executors. Executors of the configuration do not apply to those. */
  #answersHere(job: JobLoad): boolean {
    return this.#settings.control.has(job.fun) && !namesExecutors(job)
  }

  #executors(): Executors {
    const { config, facts, log } = this.#settings
    return new Executors({ config, grains: facts.grains, pillar: facts.pillar, log, ofJobs: true })
  }
}

/** Limit of concurrent jobs without `process_count_max`. Many more than cores, since job processes often only wait. */
const defaultLimit = (): number => Math.max(16, 8 * availableParallelism())
