import { constants } from 'node:os'
import type { Log, MinionServices } from '../author/context.ts'
import { SaltError } from '../base/errors.ts'
import type { JobLoad } from '../wire/publication.ts'
import { makeReturn, type ReturnLoad } from '../wire/return.ts'
import { answeredInProcess } from './control-functions.ts'
import type { JobPool } from './job-pool.ts'
import type { ProcTable } from './proc-table.ts'
import { Turns } from './turns.ts'

export interface ExecutorSettings {
  readonly id: string
  readonly log: Log
  readonly procs: ProcTable
  readonly pool: Pick<JobPool, 'run'>
  /** Run a job in the minion's own process. */
  runHere(job: JobLoad, services: MinionServices, signal: AbortSignal): Promise<ReturnLoad>
  /** Jobs run in processes of their own (`multiprocessing`); else in that of the minion, where none can be killed. */
  readonly multiprocessing: boolean
  /** At most so many jobs run at once, the others wait (`process_count_max`); -1: any number. */
  readonly limit: number
}

/** What the minion answers itself must not take longer. Milliseconds. */
const CONTROL_MS = 30_000

/** Runs each job where it belongs and when it is its turn. Always gives a return. */
export class JobExecutor {
  readonly #settings: ExecutorSettings
  readonly #turns: Turns

  constructor(settings: ExecutorSettings) {
    this.#settings = settings
    this.#turns = new Turns(settings.limit)
  }

  /** `services` are what the job may ask of the minion. */
  async run(job: JobLoad, services: MinionServices): Promise<ReturnLoad> {
    const { runHere, multiprocessing, id } = this.#settings
    if (answeredInProcess(job.fun)) return runHere(job, services, AbortSignal.timeout(CONTROL_MS))
    const turn = await this.#turn(job)
    if (SaltError.is(turn)) {
      return makeReturn(job, id, {
        return: `ERROR: ${turn.message}`,
        retcode: 1,
        success: false,
        out: 'nested',
      })
    }
    try {
      return await (multiprocessing ? this.#inPool(job, services) : this.#inThisProcess(job, services))
    } finally {
      turn()
    }
  }

  /** Resolves when the job may begin, or was taken out of the queue. Waiting jobs are known and can be killed, too. */
  async #turn(job: JobLoad): Promise<(() => void) | SaltError> {
    const { procs, log, limit } = this.#settings
    if (!this.#turns.full) return this.#turns.take()
    log.info(`Job ${job.jid} waits for its turn: ${limit} jobs run (process_count_max)`)
    const leaving = new AbortController()
    const stop = (signal: number) => leaving.abort(stopped(job, signal, 'before it began'))
    await procs.add({ job, pid: undefined, stop })
    return this.#turns.take(leaving.signal).catch((reason: SaltError) => reason)
  }

  #inPool(job: JobLoad, services: MinionServices): Promise<ReturnLoad> {
    const { pool, procs, log } = this.#settings
    return pool.run(job, services, async (pid) => {
      log.info(`Starting a new job ${job.jid} with PID ${pid}`)
      // 0 and 1 would signal the minion itself, or everything.
      const stop = (signal: number) => void (pid > 1 && process.kill(-pid, signal))
      await procs.add({ job, pid, stop })
    })
  }

  async #inThisProcess(job: JobLoad, services: MinionServices): Promise<ReturnLoad> {
    const { runHere, procs } = this.#settings
    const abort = new AbortController()
    const stop = (signal: number) => abort.abort(stopped(job, signal, 'while it ran'))
    await procs.add({ job, pid: process.pid, stop })
    return runHere(job, services, abort.signal)
  }
}

function stopped({ jid }: JobLoad, signal: number, when: string): SaltError {
  const [name = signal] = Object.entries(constants.signals).find(([, number]) => number === signal) ?? []
  return new SaltError('CANCELLED', `Job ${jid} was ended by ${name} ${when}.`)
}
