import { constants } from 'node:os'
import type { Log, MinionServices } from '../author/context.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { fileProblem } from '../base/file-problem.ts'
import { seldom } from '../base/seldom.ts'
import { Turns } from '../base/turns.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import type { JobWords } from '../wire/typed-words.ts'
import { answeredInProcess } from './control-functions.ts'
import { failedReturn } from './failed-return.ts'
import { type JobPool, unbegun } from './job-pool.ts'
import type { RunnerSettings } from './job-runner.ts'
import { type ProcEntry, type ProcTable, signalGroup } from './proc-table.ts'

export interface ExecutorSettings {
  readonly id: string
  readonly log: Log
  readonly procs: ProcTable
  readonly pool: Pick<JobPool, 'run'>
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
  /** The job begins now. Not told of what the minion answers itself. */
  began?(): void
  /** Take the return. When this resolves it is on disk, and the job is no longer known to run. */
  keep(ret: ReturnLoad): Promise<void>
}

/** What the minion answers itself must not take longer. Milliseconds. */
const CONTROL_MS = 30_000

/** Runs each job where it belongs and when it is its turn. However it ends, its return is kept. */
export class JobExecutor {
  readonly #settings: ExecutorSettings
  readonly #turns: Turns
  readonly #tellFile: ReturnType<typeof seldom>

  constructor(settings: ExecutorSettings) {
    this.#settings = settings
    this.#tellFile = seldom((sentence) => settings.log.warn(sentence))
    this.#turns = new Turns(settings.limit)
  }

  async run(job: JobLoad, around: JobSurroundings): Promise<void> {
    const { runHere, multiprocessing, id } = this.#settings
    const isControl = answeredInProcess(job.fun)
    const wait = new Wait(job)
    if (around.refusal || !isControl)
      await this.#note({ job: unbegun(job), pid: undefined, stop: (signal) => wait.leave(signal) })
    const why = around.refusal && (await Promise.race([around.refusal(), wait.left]))
    const turn = why ?? (isControl ? undefined : await this.#turn(job, wait))
    if (typeof turn === 'string') return around.keep(failedReturn(unbegun(job), id, turn))
    if (!turn) return around.keep(await runHere(job, around, AbortSignal.timeout(CONTROL_MS)))
    around.began?.()
    try {
      await (multiprocessing ? this.#inPool(job, around, wait) : this.#inThisProcess(job, around, wait))
    } finally {
      turn()
    }
  }

  /** Resolves when the job may begin; with a sentence if it was taken out of the queue. */
  async #turn(job: JobLoad, wait: Wait): Promise<(() => void) | string> {
    const { log, limit } = this.#settings
    if (this.#turns.full) log.info(`Job ${job.jid} waits for its turn: ${limit} jobs run (process_count_max)`)
    return this.#turns.take(wait.signal).catch(messageOf)
  }

  #inPool(job: JobLoad, { services, master, words, keep }: JobSurroundings, wait: Wait): Promise<void> {
    const { pool, log } = this.#settings
    let pid = 0
    const note = (shown: JobLoad) => {
      return this.#note({ job: shown, pid, master, stop: (signal) => signalGroup(pid, signal) })
    }
    const started = (given: number) => {
      pid = given
      log.info(`Starting a new job ${job.jid} with PID ${pid}`)
      if (wait.asked !== undefined) signalGroup(pid, wait.asked)
      return note(unbegun(job))
    }
    return pool.run(job, { services, master, words, started, shown: note, finished: keep })
  }

  async #inThisProcess(
    job: JobLoad,
    { services, master, words, keep }: JobSurroundings,
    wait: Wait,
  ): Promise<void> {
    const abort = new AbortController()
    const stop = (signal: number) => abort.abort(stopped(job, signal, 'while it ran'))
    const note = (shown: JobLoad) => this.#note({ job: shown, pid: process.pid, master, stop })
    if (wait.asked !== undefined) stop(wait.asked)
    await note(unbegun(job))
    await keep(await this.#settings.runHere(job, { services, words, onShown: note }, abort.signal))
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
  /** Aborts when it is taken out. */
  readonly signal = this.#leaving.signal
  /** Resolves then, with a sentence that says so. */
  readonly left = this.#left.promise
  /** The signal that was to end it. */
  asked: number | undefined

  constructor(job: JobLoad) {
    this.#job = job
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
