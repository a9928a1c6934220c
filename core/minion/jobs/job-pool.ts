import { availableParallelism, constants, setPriority } from 'node:os'
import { type Deferred, deferred } from '../../base/deferred.ts'
import { messageOf } from '../../base/errors.ts'
import { Semaphore } from '../../base/semaphore.ts'
import { encodeLocal } from '../../codec/index.ts'
import type { SpoolEntry } from '../../jobs/return-spool.ts'
import type { PublishedCall } from '../../loader/index.ts'
import type { ProcessIdentity } from '../../process/process-identity.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { ReturnLoad } from '../../wire/return.ts'
import { failedReturn, withoutArguments } from './failed-return.ts'
import { type JobProcessSettings, JobWorker, type WorkerJob } from './job-worker.ts'
import type { ToJobProcess } from './messages.ts'

export interface JobPoolSettings extends JobProcessSettings {
  /** Number of idle processes to keep ready. */
  readonly warm: number
  /** Milliseconds without a job after which idle processes beyond those end. */
  readonly spareMs?: number
}

/** The services, arguments and callbacks of a job in a process. */
export interface PooledJob extends WorkerJob {
  /** Aborts, with the reason, when the job must not begin any more. */
  readonly cancelled: AbortSignal
  /** Called before the job begins. The job does not begin if this rejects. */
  started(process: ProcessIdentity): Promise<void>
  /**
   * Called with the return, which the job process also keeps until this resolves. `spooled` is the key of a return that is on
   * disk already; `ret` then lacks its value.
   */
  finished(ret: ReturnLoad, spooled?: SpoolEntry['key']): Promise<void>
}

/** Number of jobs after which a process is replaced, to limit memory leaks of modules. */
const JOBS_PER_PROCESS = 500

/** Processes that are started at once. More would be slower, since a start needs a full core. */
const STARTS_AT_ONCE = availableParallelism()

/**
 * How long one idle process beyond `warm` is kept, so that consecutive jobs need no new processes. Each process takes about 30
 * MB.
 */
const SPARE_MS = 60_000

/** Time that a process may take to check calls. */
const CHECK_MS = 2_000
const CHECKS_AT_ONCE = 2
/** Time that a process may take to describe the modules. */
const DESCRIBE_MS = 120_000
/** Maximum of attempts to describe the modules. Each one leaves out another file that blocks its process. */
const MAX_DESCRIBE_ATTEMPTS = 10

/** A pool of warm processes that run jobs, one job at a time each. */
export class JobPool {
  readonly #settings: JobPoolSettings
  /** Processes that are ready and have no job. */
  readonly #idle: JobWorker[] = []
  /** Processes that are being started. */
  readonly #starting = new Set<JobWorker>()
  /** Jobs and checks that wait for a process. */
  readonly #requests: Deferred<JobWorker>[] = []
  /** Limits concurrent checks. A check takes milliseconds in an existing process, and far longer if one must be started. */
  readonly #checks = new Semaphore(CHECKS_AT_ONCE)
  /** Reasons by the key (path and version) of each file that blocked a process while it was loaded. */
  readonly #blocked = new Map<string, string>()
  /** Number of pending questions. They take a moment only, so their processes count as idle. */
  #questions = 0
  #generation = 0
  #ending: NodeJS.Timeout | undefined
  /** Number of processes that were started. */
  started = 0
  /** Number of processes that ended while they ran a job. */
  died = 0
  #closed = false

  constructor(settings: JobPoolSettings) {
    this.#settings = settings
    this.#share()
  }

  /** Number of processes that could begin a job at once. */
  get idle(): number {
    return Math.max(0, this.#idle.length - this.#requests.length)
  }

  /** Run a job. However it ends, `finished` gets a return. */
  async run(job: JobLoad, { cancelled, started, finished, ...workerJob }: PooledJob): Promise<void> {
    const refuse = (error: unknown) =>
      finished(failedReturn(withoutArguments(job), this.#settings.id, messageOf(error)))
    const worker = await this.#take(cancelled).catch(refuse)
    if (!worker) return
    try {
      await started(worker.identity)
    } catch (error) {
      this.#release(worker, true)
      return refuse(error)
    }
    const { ret, spooled, last, died } = await worker.run(job, workerJob)
    if (died) this.died++
    await finished(ret, spooled)
    worker.confirm()
    this.#release(worker, !last && worker.jobs < JOBS_PER_PROCESS)
  }

  /** Resolves with the reason why each call would be refused, or null for one that would not; undefined after a timeout. */
  async check(calls: readonly PublishedCall[]): Promise<readonly (string | null)[] | undefined> {
    const over = await this.#checks.take()
    try {
      const answer = await this.#ask({ type: 'check', calls: encodeLocal(calls) }, CHECK_MS)
      return answer as readonly (string | null)[] | undefined
    } finally {
      over()
    }
  }

  /** Ask the next free process. Resolves with undefined after `ms` milliseconds, when the process is killed. */
  async #ask(question: ToJobProcess, ms: number): Promise<unknown> {
    this.#questions++
    try {
      const worker = await this.#take()
      const answer = await worker.ask(question, ms)
      this.#release(worker, answer !== undefined)
      return answer
    } finally {
      this.#questions--
      this.#share()
    }
  }

  /**
   * Take a free process, in the order of the calls. As many processes are started at once as there are cores, so that short
   * jobs share the first ones instead of all waiting for theirs to start. Rejects with the reason of `cancelled`.
   */
  async #take(cancelled?: AbortSignal): Promise<JobWorker> {
    cancelled?.throwIfAborted()
    const asked = deferred<JobWorker>()
    this.#requests.push(asked)
    const cancel = () => {
      const index = this.#requests.indexOf(asked)
      if (index < 0) return
      this.#requests.splice(index, 1)
      asked.reject(cancelled?.reason)
    }
    cancelled?.addEventListener('abort', cancel)
    this.#share()
    return asked.promise.finally(() => cancelled?.removeEventListener('abort', cancel))
  }

  /** Hand out free processes, and start the missing ones. */
  #share(): void {
    while (this.#requests.length > 0 && this.#idle.length > 0)
      this.#requests.shift()?.resolve(this.#idle.shift()!)
    const ready = this.#idle.length + this.#questions
    const wanted = this.#requests.length + (this.#closed ? 0 : Math.max(0, this.#settings.warm - ready))
    while (this.#starting.size < Math.min(wanted, STARTS_AT_ONCE)) this.#start()
    clearTimeout(this.#ending)
    if (this.#idle.length > this.#settings.warm)
      this.#ending = setTimeout(
        () => this.#stopIdle(this.#settings.warm),
        this.#settings.spareMs ?? SPARE_MS,
      ).unref()
  }

  /** End the idle processes except `kept` of them. */
  #stopIdle(kept = 0): void {
    for (const worker of this.#idle.splice(kept)) worker.stop()
  }

  #start(): void {
    const worker = this.#spawn()
    this.#starting.add(worker)
    const over = () => {
      this.#starting.delete(worker)
      this.#free(worker)
    }
    // A process that could not be started is handed out as well, so that the job fails with the reason instead of waiting.
    worker.ready.then(over, over)
  }

  /**
   * Describe the modules, as the JSON of what `Loader.describe` returns. Users' files are imported in a new process, at low priority
   * unless `awaited`; that is repeated without a file that blocked its process. Resolves with undefined if that fails.
   */
  async describe(awaited = false, imports = true): Promise<string | undefined> {
    if (!imports) {
      const answer = await this.#ask({ type: 'describe', imports }, DESCRIBE_MS)
      return answer as string | undefined
    }
    for (let attempt = 0; attempt < MAX_DESCRIBE_ATTEMPTS && !this.#closed; attempt++) {
      const blocked = new Set(this.#blocked.keys())
      const worker = this.#spawn()
      if (!awaited) lowerPriority(worker.identity.pid)
      const answer = await worker.ask({ type: 'describe', imports }, DESCRIBE_MS)
      worker.dismiss()
      if (answer) return answer as string
      if (![...this.#blocked.keys()].some((key) => !blocked.has(key))) return undefined
    }
    return undefined
  }

  /** Use changed facts or modules: idle processes are replaced, busy ones end after their job. */
  refresh(): void {
    this.#blocked.clear()
    this.#renew()
  }

  #renew(): void {
    this.#generation++
    this.#stopIdle()
    this.#share()
  }

  /** End idle processes. Running jobs continue and leave their returns in the spool. */
  close(): void {
    this.#closed = true
    this.#stopIdle()
  }

  /** Give back a process after a job or a check. */
  #release(worker: JobWorker, reusable: boolean): void {
    if (reusable && worker.isConnected) this.#free(worker)
    else {
      worker.dismiss()
      this.#share()
    }
  }

  #free(worker: JobWorker): void {
    const isCurrent = worker.generation === this.#generation && !this.#closed
    const isNeeded = this.#requests.length > 0 || this.#idle.length <= this.#settings.warm
    if (isCurrent && isNeeded && (worker.isConnected || this.#requests.length > 0)) this.#idle.unshift(worker)
    else worker.dismiss()
    this.#share()
  }

  #spawn(): JobWorker {
    this.started++
    return new JobWorker({
      ...this.#settings,
      generation: this.#generation,
      blocked: this.#blocked,
      onEnd: (worker) => {
        const index = this.#idle.indexOf(worker)
        if (index >= 0) this.#idle.splice(index, 1)
        this.#share()
      },
      onBlocked: (key, reason) => {
        this.#settings.log.error(reason)
        this.#blocked.set(key, reason)
        this.#renew() // idle processes would still load it
      },
    })
  }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // It has ended, or the priority must not be changed; then it only competes with other work.
  }
}
