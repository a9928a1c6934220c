import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism, constants, setPriority } from 'node:os'
import type { Log, MinionServices } from '../author/context.ts'
import { type Deferred, deferred } from '../base/deferred.ts'
import { messageOf } from '../base/errors.ts'
import { howItEnded, LastWords } from '../base/last-words.ts'
import { processEntry } from '../base/process-entry.ts'
import { identityOf, newProcessToken, PROCESS_TOKEN, type ProcessIdentity } from '../base/process-identity.ts'
import { Turns } from '../base/turns.ts'
import { decode, encodeLocal } from '../codec/index.ts'
import type { SpoolEntry } from '../jobs/return-spool.ts'
import { type Description, LOAD_MS, LoadWatch, type PublishedCall } from '../loader/index.ts'
import { writeLine } from '../log/line.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import type { JobWords } from '../wire/typed-words.ts'
import { failedReturn } from './failed-return.ts'
import { signalGroup } from './job-group.ts'
import { tokenPrefix } from './job-titles.ts'
import type { FromJobProcess, JobProcessStart, ToJobProcess } from './messages.ts'

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
  /** Aborted, with the reason, when the job is not to begin any more. */
  readonly left: AbortSignal
  /** What the process has put into the spool itself, if it ends without handing over a return. */
  leftBehind(): Pick<SpoolEntry, 'ret' | 'key'> | undefined
  /** Is told the process before the job begins. It does not begin if that rejects. */
  started(process: ProcessIdentity): Promise<void>
  /** Is given a job that has arguments as it may be shown, with secrets masked. */
  shown(job: JobLoad): Promise<void>
  /** Is given the return; until this resolves the job's process keeps it, too. `spooled`: where it is on disk already, without its value in `ret`. */
  finished(ret: ReturnLoad, spooled?: SpoolEntry['key']): Promise<void>
}

interface Finished {
  readonly ret: ReturnLoad
  readonly spooled?: SpoolEntry['key'] | undefined
  /** The process ends now. */
  readonly last: boolean
}

interface Worker {
  readonly process: ChildProcess
  readonly identity: ProcessIdentity
  readonly generation: number
  readonly lastWords: LastWords
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

/** More would only be slower: starting is work for a processor. */
const STARTS_AT_ONCE = availableParallelism()

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
  /** Processes that are ready, and no job has. */
  readonly #idle: Worker[] = []
  /** Processes that are being started. */
  readonly #starting = new Set<Worker>()
  /** Jobs and checks that wait for a process. */
  readonly #asking: Deferred<Worker>[] = []
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
    this.#share()
  }

  /** Processes that would begin a job at once. */
  get idle(): number {
    return Math.max(0, this.#idle.length - this.#asking.length)
  }

  /** Run a job. However it ends, there is a return. */
  async run(job: JobLoad, { services, left, started, finished, ...around }: PooledJob): Promise<void> {
    const refuse = (error: unknown) =>
      finished(failedReturn(unbegun(job), this.#settings.id, messageOf(error)))
    const worker = await this.#take(left).catch(refuse)
    if (!worker) return
    worker.services = services
    try {
      await started(worker.identity)
    } catch (error) {
      this.#release(worker, true)
      return refuse(error)
    }
    const { ret, spooled, last } = await this.#runIn(worker, job, around)
    await finished(ret, spooled)
    post(worker.process, { type: 'kept' })
    worker.jobs++
    this.#release(worker, !last && worker.jobs < JOBS_PER_PROCESS)
  }

  /** Why each of the calls would be refused, or null; undefined if that does not become clear in time. */
  async check(calls: readonly PublishedCall[]): Promise<readonly (string | null)[] | undefined> {
    const over = await this.#checks.take()
    try {
      const worker = await this.#take()
      const answer = await this.#ask(worker, { type: 'check', calls: encodeLocal(calls) }, CHECK_MS)
      this.#release(worker, answer !== undefined)
      return answer as readonly (string | null)[] | undefined
    } finally {
      over()
    }
  }

  /**
   * A process that is free, in the order of asking. Only so many are started at once as there are cores: short jobs share
   * the first, instead of all waiting for as many to start. Rejects with the reason of `left`.
   */
  async #take(left?: AbortSignal): Promise<Worker> {
    left?.throwIfAborted()
    const asked = deferred<Worker>()
    this.#asking.push(asked)
    const leave = () => {
      const place = this.#asking.indexOf(asked)
      if (place < 0) return
      this.#asking.splice(place, 1)
      asked.reject(left?.reason)
    }
    left?.addEventListener('abort', leave)
    this.#share()
    return asked.promise.finally(() => left?.removeEventListener('abort', leave))
  }

  /** Processes that are free go to who asks; as many as are missing are started. */
  #share(): void {
    while (this.#asking.length > 0 && this.#idle.length > 0)
      this.#asking.shift()?.resolve(this.#idle.shift()!)
    const wanted = this.#asking.length + (this.#closed ? 0 : this.#settings.warm - this.#idle.length)
    while (this.#starting.size < Math.min(wanted, STARTS_AT_ONCE)) this.#start()
  }

  #start(): void {
    const worker = this.#spawn()
    this.#starting.add(worker)
    const over = () => {
      this.#starting.delete(worker)
      this.#free(worker)
    }
    // One that cannot be started goes to a job all the same: its return says so, and nobody waits for ever.
    worker.ready.then(over, over)
  }

  /**
   * What the modules offer; undefined if it cannot be found out. Done behind everything else unless somebody waits for
   * it, and once more without a file that was found to block its process.
   */
  async describe(awaited = false, imports = true): Promise<Description | undefined> {
    for (let attempt = 0; attempt < MOST_DESCRIBED && !this.#closed; attempt++) {
      const blocked = new Set(this.#blocked.keys())
      const worker = this.#spawn()
      if (!awaited) lowerPriority(worker.identity.pid)
      const answer = await this.#ask(worker, { type: 'describe', imports }, DESCRIBE_MS)
      this.#dismiss(worker)
      if (answer) return answer as Description
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
    this.#share()
  }

  /** Ends idle processes; running jobs go on and leave their returns in the spool. */
  close(): void {
    this.#closed = true
    for (const worker of this.#idle.splice(0)) worker.process.kill('SIGTERM')
  }

  /** A job, or a check, is done with it. */
  #release(worker: Worker, reusable: boolean): void {
    if (reusable && worker.process.connected) this.#free(worker)
    else {
      this.#dismiss(worker)
      this.#share()
    }
  }

  #free(worker: Worker): void {
    const isCurrent = worker.generation === this.#generation && !this.#closed
    const isNeeded = this.#asking.length > 0 || this.#idle.length <= this.#settings.warm
    if (isCurrent && isNeeded && (worker.process.connected || this.#asking.length > 0))
      this.#idle.unshift(worker)
    else this.#dismiss(worker)
    this.#share()
  }

  #dismiss(worker: Worker): void {
    if (worker.process.connected) worker.process.disconnect()
  }

  #spawn(): Worker {
    const { id, config, facts, log, loadMs = LOAD_MS } = this.#settings
    this.started++
    const token = newProcessToken(tokenPrefix(String(config.cachedir)))
    const child = fork(entry, [], {
      detached: true, // a process group of its own
      env: { ...process.env, [PROCESS_TOKEN]: token },
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    const { grains, pillar } = facts()
    const ready = new Promise<void>((resolve, reject) => {
      child.on('message', (message: FromJobProcess) => {
        if (message.type === 'ready') resolve()
        else if (message.type === 'log') writeLine(log, message.line, 'minion')
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
      this.#share()
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
    const worker: Worker = {
      process: child,
      identity: identityOf(child.pid ?? 0, token),
      generation: this.#generation,
      lastWords: new LastWords(child.stderr, {
        native: (text) => log.debug('The job process {pid} ended with: {text}', { pid: child.pid, text }),
      }),
      ready,
      jobs: 0,
      loads,
    }
    return worker
  }

  /** A file that blocks its process while it is loaded is known from then on, until it changes or all is read anew. */
  #giveUp(worker: Worker, key: string, reason: string): void {
    worker.stuck = reason
    this.#settings.log.error(reason)
    this.#blocked.set(key, reason)
    this.#renew() // idle processes do not know of it
    try {
      signalGroup(worker.identity, 'SIGKILL')
    } catch {
      // it has ended by itself
    }
  }

  #runIn(
    worker: Worker,
    job: JobLoad,
    {
      master,
      words,
      leftBehind,
      shown: onShown,
    }: Pick<PooledJob, 'master' | 'words' | 'leftBehind' | 'shown'>,
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
          finish({ ret: readReturn(message.ret, fail), spooled: message.spooled, last: message.last })
      }
      const onExit = async (code: number | null, signal: NodeJS.Signals | null) => {
        const left = leftBehind()
        if (left) {
          this.#settings.log.warn(`${CUT_OFF(job.jid)} Its return was in the spool.`)
          return finish({ ret: left.ret as unknown as ReturnLoad, spooled: left.key, last: true })
        }
        this.died++
        const why = worker.stuck ?? howItDied(job, howItEnded(code, signal, await worker.lastWords.reason()))
        finish({ ret: fail(why), last: true })
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

const CUT_OFF = (jid: string): string =>
  `The process of job ${jid} lost its connection to the minion: its function closed it (process.disconnect).`

function howItDied({ jid }: JobLoad, how: string): string {
  const advice = how.startsWith('ran out of memory')
    ? ' Let the function hold less at once, or give job processes more: NODE_OPTIONS=--max-old-space-size=<MiB> for the minion.'
    : ''
  return `The process of job ${jid} ${how}.${advice}`
}
