import { constants } from 'node:os'
import type { Log, MinionServices } from '../../author/context.ts'
import { deferred } from '../../base/deferred.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { fileProblem } from '../../base/files/file-problem.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { Semaphore } from '../../base/semaphore.ts'
import type { SpoolEntry } from '../../jobs/return-spool.ts'
import { identityOf, type ProcessIdentity } from '../../process/process-identity.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { RawArguments } from '../../wire/raw-arguments.ts'
import type { ReturnLoad } from '../../wire/return.ts'
import { failedReturn, withoutArguments } from './failed-return.ts'
import type { JobPool } from './job-pool.ts'
import type { RunnerSettings } from './job-runner.ts'
import { type ProcEntry, type ProcTable, stopFunctionOf } from './proc-table.ts'

export interface ExecutorSettings {
  readonly id: string
  readonly log: Log
  readonly procs: ProcTable
  readonly pool: Pick<JobPool, 'run' | 'idle'>
  /** Whether a job is a control function, which the minion process runs at once. */
  answersHere(job: JobLoad): boolean
  /** Run a job in the minion's own process. */
  runHere(
    job: JobLoad,
    environment: Pick<JobEnvironment, 'services' | 'words'> & Pick<RunnerSettings, 'onShown'>,
    signal: AbortSignal,
  ): Promise<ReturnLoad>
  /** True if jobs run in job processes (`multiprocessing`); else they run in the minion process, where they cannot be killed. */
  readonly multiprocessing: boolean
  /** Number of jobs that may run at once (`process_count_max`); the others wait. -1 if unlimited. */
  readonly limit: number
  /** Aborts when the minion ends. Waiting jobs are left for the next start. */
  readonly closing: AbortSignal
}

/** A job in the queue, or among those that run. */
export interface JobSlot {
  /** True if the job does not begin at once. */
  readonly waits: boolean
  readonly queued: QueuedJob
  /**
   * Resolves with a function that frees the slot, when the job may begin; with the reason, when the job was cancelled; with null,
   * when the minion ends.
   */
  readonly turn: Promise<(() => void) | string | null>
  /** Free the slot of a job that will not run. */
  release(): void
}

/** The services, master and callbacks of one job. */
export interface JobEnvironment {
  /** Services of the minion for the functions of the job. */
  readonly services: MinionServices
  /** Address of the master that published it. */
  readonly master: string
  /** Its arguments as the user typed them. Only for its function, since they may contain secrets. */
  readonly words?: RawArguments | undefined
  /** Resolves with the reason why the job must not begin; undefined if it may. For checks that take time. */
  refusal?(): Promise<string | undefined>
  /** Find a return that the job process has written to the spool although the minion was running. */
  findSpooled(): Pick<SpoolEntry, 'ret' | 'key'> | undefined
  /** Record that a job that waited begins. Resolves when that is on disk, rejects if the job must not begin. */
  beginning(): Promise<void>
  /** Called when the job begins. Not called for control functions. */
  began?(): void
  /**
   * Persist the return. When this resolves it is on disk and the job is no longer listed as running. `spooled` is the key of
   * a return that is on disk already; `ret` then lacks its value.
   */
  persist(ret: ReturnLoad, spooled?: SpoolEntry['key']): Promise<void>
}

/** Time limit of control functions. */
const CONTROL_MS = 30_000

/** Queues jobs and runs each in a job process or in the minion process. However a job ends, its return is persisted. */
export class JobExecutor {
  readonly #settings: ExecutorSettings
  readonly #slots: Semaphore
  readonly #warnOfFile: ReturnType<typeof onceInAWhile>
  /** Number of jobs that did not have to wait and have no process yet. */
  #starting = 0

  constructor(settings: ExecutorSettings) {
    this.#settings = settings
    this.#warnOfFile = onceInAWhile((sentence) => settings.log.warn(sentence))
    this.#slots = new Semaphore(settings.limit)
  }

  /** Put a job into the queue. Synchronous, so that jobs begin in the order of arrival. */
  enqueue(job: JobLoad): JobSlot {
    const { log, limit, closing, multiprocessing, pool } = this.#settings
    const queued = new QueuedJob(job)
    const atOnce = { waits: false, queued, release: () => {} }
    if (this.#settings.answersHere(job)) return { ...atOnce, turn: Promise.resolve(() => {}) }
    if (this.#slots.full) log.info(`Job ${job.jid} is queued: ${limit} jobs are running (process_count_max)`)
    const waits = this.#slots.full || (multiprocessing && this.#starting >= pool.idle)
    const began = waits ? () => {} : this.#expectStart()
    const turn = this.#slots
      .take(AbortSignal.any([queued.signal, closing]))
      .catch(() => (closing.aborted ? null : queued.reason))
    const release = () => {
      began()
      queued.cancel(0)
      void turn.then((end) => typeof end === 'function' && end())
    }
    void queued.begun.then(began)
    return { waits, queued, turn, release }
  }

  /** Log a job. `shown` has arguments only once the secret ones are masked. */
  #logDetails(shown: JobLoad): void {
    this.#settings.log.debug('Command details {details}', { details: shown })
  }

  #expectStart(): () => void {
    let expected = true
    this.#starting++
    return () => {
      if (expected) this.#starting--
      expected = false
    }
  }

  async run(job: JobLoad, slot: JobSlot, environment: JobEnvironment): Promise<void> {
    try {
      await this.#runIn(slot, job, environment)
    } finally {
      slot.queued.begin()
    }
  }

  async #runIn({ queued, turn, waits }: JobSlot, job: JobLoad, environment: JobEnvironment): Promise<void> {
    const { runHere, multiprocessing, id, answersHere } = this.#settings
    const isControl = answersHere(job)
    if (isControl || job.arg.length === 0) this.#logDetails(job)
    if (environment.refusal || !isControl)
      await this.#list({
        job: withoutArguments(job),
        process: undefined,
        master: environment.master,
        stop: (signal) => queued.cancel(signal),
      })
    const refusal = environment.refusal?.().catch(messageOf)
    const why = refusal && (await Promise.race([refusal, queued.cancelled]))
    const granted = await turn
    if (granted === null) return
    const free = typeof granted === 'string' ? () => {} : granted
    try {
      const refused = why ?? (typeof granted === 'string' ? granted : undefined)
      if (refused !== undefined)
        return await environment.persist(failedReturn(withoutArguments(job), id, refused))
      if (isControl)
        return await environment.persist(await runHere(job, environment, AbortSignal.timeout(CONTROL_MS)))
      const known = { ...environment, beginning: waits ? environment.beginning : async () => {} }
      if (multiprocessing) await this.#inPool(job, known, queued)
      else await this.#inThisProcess(job, known, queued)
    } finally {
      free()
    }
  }

  async #inPool(job: JobLoad, environment: JobEnvironment, queued: QueuedJob): Promise<void> {
    const { services, master, words, persist, findSpooled } = environment
    const { pool, log } = this.#settings
    let process: ProcessIdentity | undefined
    const list = (shown: JobLoad) => {
      const stop = process ? stopFunctionOf(process) : () => {}
      return this.#list({ job: shown, process, master, stop })
    }
    const started = async (given: ProcessIdentity) => {
      queued.begin()
      await environment.beginning()
      if (queued.signalNumber !== undefined) throw stopped(job, queued.signalNumber, 'before it began')
      process = given
      environment.began?.()
      log.info(`Starting a new job ${job.jid} with PID ${given.pid}`)
      await list(withoutArguments(job))
    }
    const shown = (job: JobLoad) => {
      this.#logDetails(job)
      return list(job)
    }
    const callbacks = { started, shown, finished: persist, findSpooled }
    await pool.run(job, { services, master, words, cancelled: queued.signal, ...callbacks })
  }

  async #inThisProcess(job: JobLoad, environment: JobEnvironment, queued: QueuedJob): Promise<void> {
    const { services, master, words, persist } = environment
    const { id, runHere } = this.#settings
    const abort = new AbortController()
    const stop = (signal: number) => abort.abort(stopped(job, signal, 'while it ran'))
    const self = identityOf(process.pid)
    const list = (shown: JobLoad) => this.#list({ job: shown, process: self, master, stop })
    queued.begin()
    try {
      await environment.beginning()
    } catch (error) {
      return persist(failedReturn(withoutArguments(job), id, messageOf(error)))
    }
    environment.began?.()
    if (queued.signalNumber !== undefined) stop(queued.signalNumber)
    await list(withoutArguments(job))
    const onShown = (shown: JobLoad) => {
      this.#logDetails(shown)
      return list(shown)
    }
    await persist(await runHere(job, { services, words, onShown }, abort.signal))
  }

  /** List a job as running, even if its file cannot be written because the disk is full. */
  async #list(entry: ProcEntry): Promise<void> {
    await this.#settings.procs.add(entry).catch((error: unknown) => {
      const why = fileProblem(error)
      this.#warnOfFile(`The file of job ${entry.job.jid} was not written: ${why}.`, why)
    })
  }
}

/** A job that is listed but has not begun, and can be cancelled. */
class QueuedJob {
  readonly #job: JobLoad
  readonly #aborting = new AbortController()
  readonly #cancelled = deferred<string>()
  readonly #begun = deferred<void>()
  /** Aborts when the job is cancelled. */
  readonly signal: AbortSignal = this.#aborting.signal
  /** Resolves with the reason when the job is cancelled. */
  readonly cancelled = this.#cancelled.promise
  /** Resolves when the job has begun or is over. */
  readonly begun = this.#begun.promise
  /** Number of the signal that was requested for the job. */
  signalNumber: number | undefined

  constructor(job: JobLoad) {
    this.#job = job
  }

  get reason(): string {
    return messageOf(this.signal.reason)
  }

  begin(): void {
    this.#begun.resolve()
  }

  cancel(signal: number): void {
    const reason = stopped(this.#job, signal, 'before it began')
    this.signalNumber = signal
    this.#aborting.abort(reason)
    this.#cancelled.resolve(reason.message)
  }
}

/** Signal 0 stands for a job that is taken out of the queue. */
function stopped({ jid }: JobLoad, signal: number, when: string): SaltError {
  if (signal === 0) return new SaltError('CANCELLED', `Job ${jid} was cancelled ${when}.`)
  const [name = signal] = Object.entries(constants.signals).find(([, number]) => number === signal) ?? []
  return new SaltError('CANCELLED', `Job ${jid} was ended by ${name} ${when}.`)
}
