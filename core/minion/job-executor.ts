import { constants } from 'node:os'
import type { Log, MinionServices } from '../author/context.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { fileProblem } from '../base/file-problem.ts'
import { identityOf, type ProcessIdentity } from '../base/process-identity.ts'
import { seldom } from '../base/seldom.ts'
import { Turns } from '../base/turns.ts'
import type { SpoolEntry } from '../jobs/return-spool.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import type { JobWords } from '../wire/typed-words.ts'
import { failedReturn } from './failed-return.ts'
import { type JobPool, unbegun } from './job-pool.ts'
import type { RunnerSettings } from './job-runner.ts'
import { type ProcEntry, type ProcTable, stopOf } from './proc-table.ts'

export interface ExecutorSettings {
  readonly id: string
  readonly log: Log
  readonly procs: ProcTable
  readonly pool: Pick<JobPool, 'run' | 'idle'>
  /** Is a job answered in the minion's own process, at once? */
  answersHere(job: JobLoad): boolean
  /** Run a job in the minion's own process. */
  runHere(
    job: JobLoad,
    around: Pick<JobSurroundings, 'services' | 'words'> & Pick<RunnerSettings, 'onShown'>,
    signal: AbortSignal,
  ): Promise<ReturnLoad>
  /** Jobs run in processes of their own (`multiprocessing`); else in that of the minion, where none can be killed. */
  readonly multiprocessing: boolean
  /** At most so many jobs run at once, the others wait (`process_count_max`); -1: any number. */
  readonly limit: number
  /** The minion ends: what waits is left for its next life. */
  readonly closing: AbortSignal
}

/** A job's place among those that run or wait. */
export interface Place {
  /** It does not begin at once. */
  readonly waits: boolean
  readonly wait: Wait
  /** Resolves when it may begin, with what ends its turn; with a sentence if it was taken out of the queue, null if the minion ends. */
  readonly turn: Promise<(() => void) | string | null>
  /** It does not run after all. */
  leave(): void
}

/** Whose job it is, and where its return goes. */
export interface JobSurroundings {
  /** What the job may ask of the minion. */
  readonly services: MinionServices
  /** Address of the master that published it. */
  readonly master: string
  /** Its arguments as they were typed: for its function only, nothing else is to see them. */
  readonly words?: JobWords | undefined
  /** Why the job must not begin, if that takes a while to find out. */
  refusal?(): Promise<string | undefined>
  /** What its process has put into the spool itself, though the minion was there. */
  leftBehind(): Pick<SpoolEntry, 'ret' | 'key'> | undefined
  /** A job that waited is to begin: resolves when that is on disk, rejects if it must not. */
  beginning(): Promise<void>
  /** The job begins now. Not told of what the minion answers itself. */
  began?(): void
  /**
   * Take the return. When this resolves it is on disk, and the job is no longer known to run. `spooled`: where it is on
   * disk already, without its value in `ret`.
   */
  keep(ret: ReturnLoad, spooled?: SpoolEntry['key']): Promise<void>
}

/** What the minion answers itself must not take longer. Milliseconds. */
const CONTROL_MS = 30_000

/** Runs each job where it belongs and when it is its turn. However it ends, its return is kept. */
export class JobExecutor {
  readonly #settings: ExecutorSettings
  readonly #turns: Turns
  readonly #tellFile: ReturnType<typeof seldom>
  /** Jobs that were to begin at once and have no process yet. */
  #starting = 0

  constructor(settings: ExecutorSettings) {
    this.#settings = settings
    this.#tellFile = seldom((sentence) => settings.log.warn(sentence))
    this.#turns = new Turns(settings.limit)
  }

  /** Take a place in the order of arrival, before anything is waited for. */
  place(job: JobLoad): Place {
    const { log, limit, closing, multiprocessing, pool } = this.#settings
    const wait = new Wait(job)
    const atOnce = { waits: false, wait, leave: () => {} }
    if (this.#settings.answersHere(job)) return { ...atOnce, turn: Promise.resolve(() => {}) }
    if (this.#turns.full) log.info(`Job ${job.jid} waits for its turn: ${limit} jobs run (process_count_max)`)
    const waits = this.#turns.full || (multiprocessing && this.#starting >= pool.idle)
    const began = waits ? () => {} : this.#expectStart()
    const turn = this.#turns
      .take(AbortSignal.any([wait.signal, closing]))
      .catch(() => (closing.aborted ? null : wait.reason))
    const leave = () => {
      began()
      wait.leave(0)
      void turn.then((end) => typeof end === 'function' && end())
    }
    void wait.begun.then(began)
    return { waits, wait, turn, leave }
  }

  /** Log a job as it may be shown: with arguments once it is known which of them are secret. */
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

  async run(job: JobLoad, place: Place, around: JobSurroundings): Promise<void> {
    const { wait } = place
    try {
      await this.#runIn(job, place, around)
    } finally {
      wait.begin()
    }
  }

  async #runIn(job: JobLoad, { wait, turn: place, waits }: Place, around: JobSurroundings): Promise<void> {
    const { runHere, multiprocessing, id, answersHere } = this.#settings
    const isControl = answersHere(job)
    if (isControl || job.arg.length === 0) this.#logDetails(job)
    if (around.refusal || !isControl)
      await this.#note({
        job: unbegun(job),
        process: undefined,
        master: around.master,
        stop: (signal) => wait.leave(signal),
      })
    const why = around.refusal && (await Promise.race([around.refusal(), wait.left]))
    const turn = await place
    if (turn === null) return
    const end = typeof turn === 'string' ? () => {} : turn
    try {
      const refused = why ?? (typeof turn === 'string' ? turn : undefined)
      if (refused !== undefined) return await around.keep(failedReturn(unbegun(job), id, refused))
      if (isControl) return await around.keep(await runHere(job, around, AbortSignal.timeout(CONTROL_MS)))
      const beginning = waits ? around.beginning : async () => {}
      await (multiprocessing ? this.#inPool : this.#inThisProcess).call(
        this,
        job,
        { ...around, beginning },
        wait,
      )
    } finally {
      end()
    }
  }

  async #inPool(job: JobLoad, around: JobSurroundings, wait: Wait): Promise<void> {
    const { services, master, words, keep, leftBehind } = around
    const { pool, log } = this.#settings
    let process: ProcessIdentity | undefined
    const note = (shown: JobLoad) => {
      const stop = process ? stopOf(process) : () => {}
      return this.#note({ job: shown, process, master, stop })
    }
    const started = async (given: ProcessIdentity) => {
      wait.begin()
      await around.beginning()
      process = given
      around.began?.()
      log.info(`Starting a new job ${job.jid} with PID ${given.pid}`)
      await note(unbegun(job))
    }
    const shown = (job: JobLoad) => {
      this.#logDetails(job)
      return note(job)
    }
    const told = { started, shown, finished: keep, leftBehind }
    await pool.run(job, { services, master, words, left: wait.signal, ...told })
  }

  async #inThisProcess(job: JobLoad, around: JobSurroundings, wait: Wait): Promise<void> {
    const { services, master, words, keep } = around
    const abort = new AbortController()
    const stop = (signal: number) => abort.abort(stopped(job, signal, 'while it ran'))
    const self = identityOf(process.pid)
    const note = (shown: JobLoad) => this.#note({ job: shown, process: self, master, stop })
    wait.begin()
    await around.beginning()
    around.began?.()
    if (wait.asked !== undefined) stop(wait.asked)
    await note(unbegun(job))
    const onShown = (shown: JobLoad) => {
      this.#logDetails(shown)
      return note(shown)
    }
    await keep(await this.#settings.runHere(job, { services, words, onShown }, abort.signal))
  }

  /** A job is known even if there is no room on the disk for its file. */
  async #note(entry: ProcEntry): Promise<void> {
    await this.#settings.procs.add(entry).catch((error: unknown) => {
      const why = fileProblem(error)
      this.#tellFile(`The file of job ${entry.job.jid} was not written: ${why}.`, why)
    })
  }
}

/** A job that is known, but has not begun: it can be taken out of the queue. */
class Wait {
  readonly #job: JobLoad
  readonly #leaving = new AbortController()
  readonly #left = deferred<string>()
  readonly #begun = deferred<void>()
  /** Aborts when it is taken out. */
  readonly signal: AbortSignal = this.#leaving.signal
  /** Resolves then, with a sentence that says so. */
  readonly left = this.#left.promise
  /** Resolves when it has begun, or is over. */
  readonly begun = this.#begun.promise
  /** The signal that was to end it. */
  asked: number | undefined

  constructor(job: JobLoad) {
    this.#job = job
  }

  get reason(): string {
    return messageOf(this.signal.reason)
  }

  begin(): void {
    this.#begun.resolve()
  }

  leave(signal: number): void {
    const reason = stopped(this.#job, signal, 'before it began')
    this.asked = signal
    this.#leaving.abort(reason)
    this.#left.resolve(reason.message)
  }
}

function stopped({ jid }: JobLoad, signal: number, when: string): SaltError {
  const [name = signal] = Object.entries(constants.signals).find(([, number]) => number === signal) ?? []
  return new SaltError('CANCELLED', `Job ${jid} was ended by ${name} ${when}.`)
}
