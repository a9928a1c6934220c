import { type ChildProcess, fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import type { Log, MinionServices } from '../author/context.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf } from '../base/errors.ts'
import { processEntry } from '../base/process-entry.ts'
import { Turns } from '../base/turns.ts'
import { decode, encodeLocal } from '../codec/index.ts'
import { type Catalogue, LOAD_MS, LoadWatch, type PublishedCall } from '../loader/index.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import type { JobWords } from '../wire/typed-words.ts'
import { failedReturn } from './failed-return.ts'
import type { FromJobProcess, JobProcessStart, ToJobProcess } from './messages.ts'
import { signalGroup } from './proc-table.ts'

export interface JobPoolSettings {
  readonly id: string
  readonly config: Readonly<Record<string, unknown>>
  /** The facts that new job processes get; read anew for each. */
  facts(): { readonly grains: object; readonly pillar: object }
  readonly log: Log
  /** Idle processes that are kept ready. */
  readonly warm: number
  /** How long a file of extensions may take to load, milliseconds. */
  readonly loadMs?: number
}

/** What becomes of a job in a process. */
export interface PooledJob {
  /** What it may ask of the minion. */
  readonly services: MinionServices
  /** Address of the master that published it. */
  readonly master: string
  /** Its arguments as they were typed. */
  readonly words?: JobWords | undefined
  /** Is told the process's id before the job begins. */
  started(pid: number): Promise<void>
  /** Is given a job that has arguments as it may be shown, with secrets masked. */
  shown(job: JobLoad): Promise<void>
  /** Is given the return; until this resolves the job's process keeps it, too. */
  finished(ret: ReturnLoad): Promise<void>
}

interface Finished {
  readonly ret: ReturnLoad
  /** The process ends now. */
  readonly last: boolean
}

interface Worker {
  readonly process: ChildProcess
  readonly pid: number
  readonly ready: Promise<void>
  /** What the job that runs may ask of the minion. */
  services?: MinionServices
  jobs: number
  readonly loads: LoadWatch
  /** Why it was ended. */
  stuck?: string
}

/** A process is replaced after so many jobs, so that what jobs leak does not add up. */
const JOBS_PER_PROCESS = 500

/** How long a process may take to say what would become of a call, and what there is to call. Milliseconds. */
const CHECK_MS = 2_000
const CHECKS_AT_ONCE = 2
const DESCRIBE_MS = 120_000
/** So many files that block their process are left out of that. */
const MOST_DESCRIBED = 10

const entry = processEntry(import.meta.url, 'job-process')

/** As a job is shown that has not begun: which of its arguments are secret is known only with the function. */
export const unbegun = (job: JobLoad): JobLoad => ({ ...job, arg: [] })

/** Warm processes that run jobs, one job each at a time (design decision 8). */
export class JobPool {
  readonly #settings: JobPoolSettings
  readonly #idle: Worker[] = []
  /** A check takes milliseconds in a process that is there, and many times that if one has to be started for it. */
  readonly #checks = new Turns(CHECKS_AT_ONCE)
  /** Files that blocked a process while they were loaded, as they were then. */
  readonly #blocked = new Map<string, string>()
  #generation = 0
  /** Processes that were started, and that ended while they ran a job. */
  started = 0
  died = 0
  #closed = false

  constructor(settings: JobPoolSettings) {
    this.#settings = settings
    this.#warmUp()
  }

  /** Run a job. However it ends, there is a return. */
  async run(job: JobLoad, { services, started, finished, ...around }: PooledJob): Promise<void> {
    const worker = this.#idle.shift() ?? this.#spawn()
    worker.services = services
    this.#warmUp()
    const generation = this.#generation
    await started(worker.pid)
    const { ret, last } = await this.#runIn(worker, job, around)
    await finished(ret)
    post(worker.process, { type: 'kept' })
    worker.jobs++
    const reusable = !last && generation === this.#generation && worker.jobs < JOBS_PER_PROCESS
    this.#release(worker, reusable && worker.process.connected)
  }

  /** Why each of the calls would be refused, or null; undefined if that does not become clear in time. */
  async check(calls: readonly PublishedCall[]): Promise<readonly (string | null)[] | undefined> {
    const over = await this.#checks.take()
    try {
      const worker = this.#idle.shift() ?? this.#spawn()
      this.#warmUp()
      const generation = this.#generation
      const answer = await this.#ask(worker, { type: 'check', calls: encodeLocal(calls) }, CHECK_MS)
      const isReusable = answer !== undefined && generation === this.#generation
      this.#release(worker, isReusable && worker.process.connected)
      return answer as readonly (string | null)[] | undefined
    } finally {
      over()
    }
  }

  /**
   * What the modules offer; undefined if it cannot be found out. Done behind everything else unless somebody waits for
   * it, and once more without a file that was found to block its process.
   */
  async describe(awaited = false): Promise<Catalogue | undefined> {
    for (let attempt = 0; attempt < MOST_DESCRIBED && !this.#closed; attempt++) {
      const blocked = new Set(this.#blocked.keys())
      const worker = this.#spawn()
      if (!awaited) lowerPriority(worker.pid)
      const answer = await this.#ask(worker, { type: 'describe' }, DESCRIBE_MS)
      this.#release(worker, false)
      if (answer) return answer as Catalogue
      if (![...this.#blocked.keys()].some((key) => !blocked.has(key))) return undefined
    }
    return undefined
  }

  /** Who does not answer in time is killed. */
  #ask({ process: child, ready }: Worker, question: ToJobProcess, ms: number): Promise<unknown> {
    const answer = deferred<unknown>()
    const onMessage = (message: FromJobProcess) => {
      if (message.type === 'answered') answer.resolve(decode(message.answer))
    }
    const giveUp = () => answer.resolve(undefined)
    const timer = setTimeout(() => child.kill('SIGKILL'), ms)
    child.on('message', onMessage)
    child.once('exit', giveUp)
    ready.then(() => post(child, question), giveUp)
    return answer.promise.finally(() => {
      clearTimeout(timer)
      child.off('message', onMessage)
      child.off('exit', giveUp)
    })
  }

  /** Facts or modules changed: idle processes are replaced, busy ones end after their job. */
  refresh(): void {
    this.#blocked.clear()
    this.#renew()
  }

  #renew(): void {
    this.#generation++
    for (const worker of this.#idle.splice(0)) worker.process.kill('SIGTERM')
    this.#warmUp()
  }

  /** Ends idle processes; running jobs go on and leave their returns in the spool. */
  close(): void {
    this.#closed = true
    for (const worker of this.#idle.splice(0)) worker.process.kill('SIGTERM')
  }

  #release(worker: Worker, reusable: boolean): void {
    if (reusable && !this.#closed && this.#idle.length <= this.#settings.warm) this.#idle.unshift(worker)
    else if (worker.process.connected) worker.process.disconnect()
  }

  #warmUp(): void {
    while (!this.#closed && this.#idle.length < this.#settings.warm) this.#idle.push(this.#spawn())
  }

  #spawn(): Worker {
    const { id, config, facts, log, loadMs = LOAD_MS } = this.#settings
    this.started++
    const child = fork(entry, [], {
      detached: true, // a process group of its own
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const { grains, pillar } = facts()
    const ready = new Promise<void>((resolve, reject) => {
      child.on('message', (message: FromJobProcess) => {
        if (message.type === 'ready') resolve()
        else if (message.type === 'log') log[message.level](message.message, message.facts)
        else if (message.type === 'call') void serve(worker, message)
        else if (message.type === 'loading') worker.loads.heard(message)
      })
      child.once('exit', (code, signal) => reject(new Error(`the job process ended with ${signal ?? code}`)))
      child.on('error', (error) => {
        log.error(`A job process could not be started: ${error.message}`)
        if (child.pid === undefined) reject(error)
      })
    })
    ready.catch(() => {})
    child.once('exit', () => {
      worker.loads.close()
      const index = this.#idle.findIndex((worker) => worker.process === child)
      if (index >= 0) this.#idle.splice(index, 1)
    })
    const start: JobProcessStart = {
      type: 'start',
      id,
      config: { ...config },
      grains: encodeLocal(grains),
      pillar: encodeLocal(pillar),
      loadMs,
      blocked: this.#blocked,
    }
    post(child, start)
    const loads = new LoadWatch(loadMs, (key, reason) => this.#giveUp(worker, key, reason))
    const worker: Worker = { process: child, pid: child.pid ?? 0, ready, jobs: 0, loads }
    return worker
  }

  /** A file that blocks its process while it is loaded is known from then on, until it changes or all is read anew. */
  #giveUp(worker: Worker, key: string, reason: string): void {
    worker.stuck = reason
    this.#settings.log.error(reason)
    this.#blocked.set(key, reason)
    this.#renew() // idle processes do not know of it
    signalGroup(worker.pid, constants.signals.SIGKILL)
  }

  #runIn(
    worker: Worker,
    job: JobLoad,
    { master, words, shown: onShown }: Pick<PooledJob, 'master' | 'words' | 'shown'>,
  ): Promise<Finished> {
    const child = worker.process
    let shown = unbegun(job)
    let noted = Promise.resolve()
    const fail = (reason: string) => failedReturn(shown, this.#settings.id, reason)
    return new Promise((resolve) => {
      const onMessage = (message: FromJobProcess) => {
        if (message.type === 'shown') {
          shown = decode(message.job) as unknown as JobLoad
          noted = onShown(shown)
        } else if (message.type === 'return')
          finish({ ret: readReturn(message.ret, fail), last: message.last })
      }
      const onExit = (code: number | null, signal: NodeJS.Signals | null) => {
        this.died++
        finish({ ret: fail(worker.stuck ?? howItDied(job, code, signal)), last: true })
      }
      const finish = (finished: Finished) => {
        child.off('message', onMessage)
        child.off('exit', onExit)
        resolve(noted.then(() => finished))
      }
      child.on('message', onMessage)
      child.once('exit', onExit)
      worker.ready.then(
        () => post(child, { type: 'job', job: encodeLocal(job), master, words }),
        () => onExit(child.exitCode, child.signalCode),
      )
    })
  }
}

/** A function in the job process asks the minion for something. */
async function serve(
  { process: child, services = {} as MinionServices }: Worker,
  { method, args, call }: Extract<FromJobProcess, { type: 'call' }>,
): Promise<void> {
  try {
    const ask = Object.hasOwn(services, method) ? services[method as keyof MinionServices] : undefined
    if (!ask) throw new Error(`The minion has no service ${method}.`)
    const value = await (ask as (...args: unknown[]) => Promise<unknown>)(...(decode(args) as unknown[]))
    post(child, { type: 'answer', call, value: encodeLocal(value ?? null) })
  } catch (error) {
    post(child, { type: 'failure', call, message: messageOf(error) })
  }
}

function post(child: ChildProcess, message: ToJobProcess): void {
  if (child.connected) child.send(message, () => {}) // a process that is gone is reported by its exit
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW)
  } catch {
    // it has ended already, or may not: it is only slower company then
  }
}

/** One that is larger than anything a master would read is a failed one. */
function readReturn(bytes: Uint8Array, fail: (reason: string) => ReturnLoad): ReturnLoad {
  try {
    return decode(bytes) as unknown as ReturnLoad
  } catch (error) {
    return fail(`The return is too large to be sent. ${messageOf(error)}`)
  }
}

function howItDied({ jid }: JobLoad, code: number | null, signal: NodeJS.Signals | null): string {
  const how = signal ? `was ended by ${signal}` : `ended unexpectedly with exit code ${code ?? 'unknown'}`
  return `The process of job ${jid} ${how}.`
}
