import { open } from 'node:fs/promises'
import type { Log, MinionServices } from '../../author/context.ts'
import { deferred } from '../../base/deferred.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { removeTemporary } from '../../base/files/atomic-file.ts'
import { decode, encodeLocal } from '../../codec/index.ts'
import { download, reportUnanswered } from '../../fileserver/index.ts'
import type { SpoolEntry } from '../../jobs/return-spool.ts'
import { LOAD_MS, LoadWatch } from '../../loader/index.ts'
import { writeRelayedLine } from '../../log/relay.ts'
import { Child, type ChildEnd } from '../../process/child.ts'
import { processEntry } from '../../process/process-entry.ts'
import {
  identityOf,
  newProcessToken,
  PROCESS_TOKEN,
  type ProcessIdentity,
} from '../../process/process-identity.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { RawArguments } from '../../wire/raw-arguments.ts'
import type { ReturnLoad } from '../../wire/return.ts'
import { failedReturn, withoutArguments } from './failed-return.ts'
import { signalGroup } from './job-group.ts'
import { tokenPrefix } from './job-titles.ts'
import type { DownloadFailure, FromJobProcess, ToJobProcess } from './messages.ts'

export interface JobProcessSettings {
  readonly id: string
  readonly config: Readonly<Record<string, unknown>>
  /** Return the facts that a new job process gets. Called for each process. */
  facts(): { readonly grains: object; readonly pillar: object }
  readonly log: Log
  /** Time that a file of extensions may take to load, milliseconds. */
  readonly loadMs?: number
}

interface JobWorkerSettings extends JobProcessSettings {
  /** Counts the refreshes of the pool, which make older processes unusable. */
  readonly generation: number
  /** Files that are not loaded, with the reason, by key (path and version). */
  readonly blocked: ReadonlyMap<string, string>
  onEnd(worker: JobWorker): void
  /** Called with the key of a file that blocks the process while it is loaded. The process is killed after that. */
  onBlocked(key: string, reason: string): void
}

/** The services and arguments of a job in a process. */
export interface WorkerJob {
  /** Services of the minion for the functions of the job. */
  readonly services: MinionServices
  /** Address of the master that published it. */
  readonly master: string
  /** Its arguments as the user typed them. */
  readonly words?: RawArguments | undefined
  /** Find a return that the process has written to the spool before it ended without sending one. */
  findSpooled(): Pick<SpoolEntry, 'ret' | 'key'> | undefined
  /** Called with the job whose secret arguments are masked, if it has arguments. */
  shown(job: JobLoad): Promise<void>
}

interface Finished {
  readonly ret: ReturnLoad
  readonly spooled?: SpoolEntry['key'] | undefined
  /** True if the process ends after this job. */
  readonly last: boolean
  /** True if the process ended while it ran the job, and left no return. */
  readonly died?: boolean
}

type DownloadRequest = Extract<FromJobProcess, { type: 'download' }>

const entry = processEntry('minion/jobs/job-process')

/**
 * Number of files that the minion downloads for its processes at once. On a file system that hangs each of them blocks one of the
 * four threads of libuv.
 */
const MAX_DOWNLOADS = 2
let downloads = 0

/** A process that runs jobs, one at a time. */
export class JobWorker {
  readonly identity: ProcessIdentity
  readonly generation: number
  /** Resolves when the process can run a job; rejects if it ends before. */
  readonly ready: Promise<void>
  /** Number of jobs it has run. */
  jobs = 0
  readonly #settings: JobWorkerSettings
  readonly #child: Child<ToJobProcess, FromJobProcess>
  readonly #ready = deferred()
  readonly #loads: LoadWatch
  /** Services of the minion for the job that runs. */
  #services: Partial<MinionServices> = {}
  readonly #ended = new AbortController()
  /** Reason why the process was killed. */
  #stuck: string | undefined

  constructor(settings: JobWorkerSettings) {
    const { id, config, facts, log, loadMs = LOAD_MS, generation, blocked } = settings
    this.#settings = settings
    this.generation = generation
    this.ready = this.#ready.promise
    this.ready.catch(() => {})
    this.#loads = new LoadWatch(loadMs, (key, reason) => this.#giveUp(key, reason))
    const token = newProcessToken(tokenPrefix(String(config.cachedir)))
    this.#child = new Child({
      entry,
      detached: true,
      env: { ...process.env, [PROCESS_TOKEN]: token },
      stdout: 'ignore',
      stderr: 'filter',
      onNative: (text) =>
        log.debug('The job process {pid} ended with: {text}', { pid: this.identity.pid, text }),
      onMessage: (message) => this.#onMessage(message),
      onEnd: (end) => this.#onEnd(end),
    })
    this.identity = identityOf(this.#child.pid ?? 0, token)
    const { grains, pillar } = facts()
    this.#child.send({
      type: 'start',
      id,
      config: { ...config },
      grains: encodeLocal(grains),
      pillar: encodeLocal(pillar),
      loadMs,
      blocked,
    })
  }

  get isConnected(): boolean {
    return this.#child.connected
  }

  /** Run a job. Resolves with its return however it ends. */
  async run(
    job: JobLoad,
    { services, master, words, findSpooled, shown: onShown }: WorkerJob,
  ): Promise<Finished> {
    this.#services = services
    let shown = withoutArguments(job)
    let onShownDone = Promise.resolve()
    const fail = (reason: string) => failedReturn(shown, this.#settings.id, reason)
    const over = deferred<Finished>()
    const finish = (finished: Finished) => {
      stopListening()
      stopWaiting()
      over.resolve(finished)
    }
    const stopListening = this.#child.listen((message) => {
      if (message.type === 'shown') {
        shown = decode(message.job) as unknown as JobLoad
        onShownDone = onShown(shown)
      } else if (message.type === 'return' && !(message.ret instanceof Uint8Array))
        this.#kill(FOREIGN_MESSAGE)
      else if (message.type === 'return')
        finish({ ret: readReturn(message.ret, fail), spooled: message.spooled, last: message.last })
    })
    const onEnd = async () => {
      const spooled = findSpooled()
      if (spooled) {
        this.#settings.log.warn(`${cutOffText(job.jid)} Its return was in the spool.`)
        return finish({ ret: spooled.ret as unknown as ReturnLoad, spooled: spooled.key, last: true })
      }
      const why = this.#stuck ?? howItDied(job, await this.#child.howItEnded())
      finish({ ret: fail(why), last: true, died: true })
    }
    const stopWaiting = this.#child.onceEnded(() => void onEnd())
    this.#sendOnceReady({ type: 'job', job: encodeLocal(job), master, words })
    this.jobs++
    const finished = await over.promise
    await onShownDone
    return finished
  }

  /** Confirm that the return is stored, so that the process can drop it. */
  confirm(): void {
    this.#child.send({ type: 'kept' })
  }

  /** Send a question and return the answer; undefined after `ms` milliseconds, when the process is killed. */
  async ask(question: ToJobProcess, ms: number): Promise<unknown> {
    const next = this.#child.next('answered', ms)
    this.#sendOnceReady(question)
    const answered = await next
    if (!answered) this.#child.kill('SIGKILL')
    return answered && decode(answered.answer)
  }

  /** End the process after the job it runs. */
  dismiss(): void {
    this.#child.disconnect()
  }

  /** End the process, which runs no job. */
  stop(): void {
    this.#child.kill('SIGTERM')
  }

  #sendOnceReady(message: ToJobProcess): void {
    this.ready.then(
      () => this.#child.send(message),
      () => {},
    )
  }

  #onMessage(message: FromJobProcess): void {
    if (message.type === 'ready') this.#ready.resolve()
    else if (message.type === 'log') writeRelayedLine(this.#settings.log, message.line, 'minion')
    else if (message.type === 'call') void this.#serve(message)
    else if (message.type === 'download') void this.#download(message)
    else if (message.type === 'loading') this.#loads.heard(message)
  }

  #onEnd({ code, signal, error }: ChildEnd): void {
    this.#ended.abort()
    if (error) this.#settings.log.error(`A job process could not be started: ${error.message}`)
    this.#ready.reject(error ?? new Error(`the job process ended with ${signal ?? code}`))
    this.#loads.close()
    this.#settings.onEnd(this)
  }

  /** Kill the process, because a file blocks it while it is loaded. */
  #giveUp(key: string, reason: string): void {
    this.#settings.onBlocked(key, reason)
    this.#kill(reason)
  }

  /** Kill the process and everything it started. Its job fails with `reason`. */
  #kill(reason: string): void {
    this.#stuck = reason
    try {
      signalGroup(this.identity, 'SIGKILL')
    } catch {
      // it has already ended
    }
  }

  /** Call a service of the minion for a function in the process, and send the result. */
  async #serve({ method, args, call }: Extract<FromJobProcess, { type: 'call' }>): Promise<void> {
    const services = this.#services
    try {
      const ask = Object.hasOwn(services, method) ? services[method as keyof MinionServices] : undefined
      if (!ask) throw new Error(`The minion has no service ${method}.`)
      const value = await (ask as (...args: unknown[]) => Promise<unknown>)(...(decode(args) as unknown[]))
      this.#child.send({ type: 'answer', call, value: encodeLocal(value ?? null) })
    } catch (error) {
      this.#child.send({ type: 'failure', call, message: messageOf(error) })
    }
  }

  /** Download a file for the process, so that neither the requests for its pieces nor the pieces pass through the channel. */
  async #download(message: DownloadRequest): Promise<void> {
    const result = await this.#downloadInto(message).catch(failureOf)
    this.#child.send({ type: 'downloaded', call: message.call, result })
  }

  /** Resolves with false if the file cannot be opened, or enough others are being downloaded: the process then does it itself. */
  async #downloadInto({ file, wanted, into }: DownloadRequest): Promise<boolean> {
    const { request } = this.#services
    if (!request || downloads >= MAX_DOWNLOADS) return false
    const path = `/proc/${this.identity.pid}/fd/${into}`
    downloads++
    try {
      const handle = await open(path, 'r+').catch(() => undefined)
      if (!handle) return false
      const gone = deferred<never>()
      const stopWaiting = this.#child.onceEnded(() => gone.reject(new Error('The job process has ended.')))
      try {
        const done = download(reportUnanswered(request), file, wanted, handle, this.#ended.signal)
        await Promise.race([done, gone.promise])
      } finally {
        stopWaiting()
        if (this.#ended.signal.aborted) removeTemporary(handle.fd)
        await handle.close()
      }
      return true
    } finally {
      downloads--
    }
  }
}

/** Return what the process needs to throw the same error. */
function failureOf(error: unknown): DownloadFailure {
  const message = messageOf(error)
  if (SaltError.is(error)) return { message, code: error.code, data: error.data }
  const { code, errno } = error as NodeJS.ErrnoException
  return { message, ...(code !== undefined && { code }), ...(errno !== undefined && { errno }) }
}

/** Decode a return. One that is larger than a master would read becomes a failed return. */
function readReturn(bytes: Uint8Array, fail: (reason: string) => ReturnLoad): ReturnLoad {
  try {
    return decode(bytes) as unknown as ReturnLoad
  } catch (error) {
    return fail(`The return is too large to be sent. ${messageOf(error)}`)
  }
}

const FOREIGN_MESSAGE =
  'Its process was ended: its function sent the minion a message of its own (process.send), which only salt-ts may do.'

const cutOffText = (jid: string): string =>
  `The process of job ${jid} lost its connection to the minion: its function closed it (process.disconnect).`

function howItDied({ jid }: JobLoad, how: string): string {
  const advice = how.startsWith('ran out of memory')
    ? ' Reduce the memory that the function uses, or set NODE_OPTIONS=--max-old-space-size=<MiB> for the minion to give job processes more.'
    : ''
  return `The process of job ${jid} ${how}.${advice}`
}
