import { type ChildProcess, fork } from 'node:child_process'
import type { SignIns } from '../auth/sign-in/limit.ts'
import type { Log } from '../author/context.ts'
import { backoff } from '../base/backoff.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { processEntry } from '../base/process-entry.ts'
import type { Snapshot } from '../metrics/index.ts'
import { isWorking } from './is-working.ts'
import { bulk, slim } from './memory.ts'
import type { FromChild, ToChild } from './messages.ts'
import { SignInDesk } from './sign-in-desk.ts'
import { watchStart } from './starting.ts'

export interface ChildSpec {
  readonly name: string
  /** Compiled file beside this one, or in another room. */
  readonly entry: 'publisher-process' | 'returner-process' | 'worker-process' | '../api/api-process'
  start(): Extract<ToChild, { type: 'start' | 'serve' }>
  onGone?(): void
}

/** A child that died is started again after the least of these, one that cannot be started ever later. */
const RESTART = { minMs: 100, maxMs: 5_000 }
/** A child that does not answer so many pings in a row hangs; one that is at work may be busy. */
const PING_MS = 1_000
const MAX_PINGS = 5
const MAX_PINGS_AT_WORK = 30
/** How long the others wait for one that has to take a message first. */
const TAKE_MS = 1_000

/** They move much through memory. */
const BULKY: ReadonlySet<ChildSpec['entry']> = new Set(['returner-process', '../api/api-process'])

/** Starts the children of the master, and again when they die, until stopped. */
export class Supervisor {
  readonly #log: Log
  readonly #children = new Map<string, ChildProcess>()
  /** How often each was started again. */
  readonly restarts = new Map<string, number>()
  /** They were asked to end; nobody starts them again. */
  readonly #ended = new WeakSet<ChildProcess>()
  #stopping = false

  readonly #signIns: SignIns

  /** `signIns` counts wrong passwords for all workers. */
  constructor(log: Log, signIns: SignIns) {
    this.#log = log
    this.#signIns = signIns
  }

  /** Resolves when the child is ready; rejects if its first start fails. */
  async start(spec: ChildSpec): Promise<void> {
    const ready = deferred<void>()
    const child = fork(processEntry(import.meta.url, spec.entry), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: [...(BULKY.has(spec.entry) ? bulk : slim).flags],
      env: { ...slim.env, ...process.env },
    })
    this.#children.set(spec.name, child)
    const desk = new SignInDesk(this.#signIns, (answer) => post(child, answer))
    let watch = watchStart(child, spec.name, this.#log)
    let running = false
    let failure = new SaltError('COMMAND_EXECUTION', `${spec.name} ended while it was starting`)
    child.on('message', (message: FromChild) => {
      if (message.type === 'ready') {
        running = true
        clearInterval(watch)
        watch = this.#watch(spec.name, child)
        for (const problem of message.problems ?? []) this.#log.error(problem)
        ready.resolve()
      } else if (message.type === 'failed')
        failure = new SaltError(message.code ?? 'COMMAND_EXECUTION', message.message)
      else if (message.type === 'verdict') this.tell(message, 'MWorker')
      else if (message.type === 'queued') this.tell(message, 'returner')
      else if (message.type === 'sign_in' || message.type === 'signed_in') void desk.take(message)
    })
    const gone = (how: string | number | null) => {
      if (this.#children.get(spec.name) !== child) return
      clearInterval(watch)
      desk.close()
      this.#children.delete(spec.name)
      spec.onGone?.()
      ready.reject(failure)
      if (running && !this.#stopping && !this.#ended.has(child)) this.#restart(spec, how)
    }
    child.once('exit', (code, signal) => gone(signal ?? code))
    child.on('error', (error) => {
      failure = new SaltError('COMMAND_EXECUTION', `${spec.name} cannot be started: ${error.message}`)
      if (child.pid === undefined) gone(error.message)
    })
    post(child, spec.start()) // one that no file was left for has no channel
    return ready.promise
  }

  /** Start a child that the others work without: if that fails, it is tried again and again. */
  keep(spec: ChildSpec): void {
    this.start(spec).catch((error: unknown) => {
      if (!this.#stopping) this.#restart(spec, messageOf(error))
    })
  }

  /** End a child once it has finished what is under way, in `ms` at most. */
  async end(name: string, ms: number): Promise<void> {
    const child = this.#children.get(name)
    if (!child) return
    this.#ended.add(child)
    await endChild(child, ms, ms)
  }

  /** The same, and start it again: as its specification says now. One that is being started again anyway is left alone. */
  async replace(spec: ChildSpec, ms: number): Promise<void> {
    if (!this.#children.has(spec.name)) return
    await this.end(spec.name, ms)
    if (!this.#stopping)
      await this.start(spec).catch((error: unknown) => {
        if (!this.#stopping) this.#restart(spec, messageOf(error))
      })
  }

  #restart(spec: ChildSpec, how: string | number | null, delays = backoff(RESTART)): void {
    this.#log.error(`${spec.name} ended (${how}) and is started again`)
    this.restarts.set(spec.name, (this.restarts.get(spec.name) ?? 0) + 1)
    setTimeout(() => {
      if (this.#stopping) return
      this.start(spec).catch((error: unknown) => {
        if (!this.#stopping) this.#restart(spec, messageOf(error), delays)
      })
    }, delays.next())
  }

  /** Kill the child when it hangs. Counted by rounds of this process, so that sleeping itself blames nobody. */
  #watch(name: string, child: ChildProcess): NodeJS.Timeout {
    let unanswered = 0
    child.on('message', ({ type }: FromChild) => {
      if (type === 'pong') unanswered = 0
    })
    return setInterval(() => {
      const limit = unanswered >= MAX_PINGS && isWorking(child.pid) ? MAX_PINGS_AT_WORK : MAX_PINGS
      if (unanswered++ < limit) return void post(child, { type: 'ping' })
      this.#log.error(`${name} hangs and is replaced`)
      child.kill('SIGKILL')
    }, PING_MS)
  }

  /** Tell all children, or those whose name starts with `prefix`. */
  tell(message: ToChild, prefix = ''): void {
    for (const child of this.#named(prefix)) post(child, message)
  }

  /** Tell children of a new AES key. Resolves when they use it; one that hangs is waited for a moment only. */
  async tellRotation(message: Extract<ToChild, { type: 'rotate' }>, prefix: string): Promise<void> {
    const taken = this.#named(prefix).map((child) => answered(child, 'rotated'))
    this.tell(message, prefix)
    await Promise.all(taken)
  }

  /**
   * What children that are wanted have measured, and their process ids; undefined for one that does not say it within `ms`.
   */
  async measured(
    ms: number,
    isWanted: (name: string) => boolean,
  ): Promise<Map<string, { pid: number; snapshot: Snapshot } | undefined>> {
    const wanted = [...this.#children].filter(([name]) => isWanted(name))
    const asked = wanted.map(async ([name, child]) => {
      const answer = answered(child, 'measured', ms)
      post(child, { type: 'measure' })
      const message = await answer
      const { pid = 0 } = child
      return [name, message?.type === 'measured' ? { pid, snapshot: message.snapshot } : undefined] as const
    })
    return new Map(await Promise.all(asked))
  }

  kill(name: string): void {
    this.#children.get(name)?.kill('SIGKILL')
  }

  pidOf(name: string): number | undefined {
    return this.#children.get(name)?.pid
  }

  /** Ask all children whose name starts with `prefix` to end; kill those that have not after `ms`. */
  async stop(prefix: string, ms: number): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#named(prefix).map((child) => endChild(child, ms)))
  }

  #named(prefix: string): ChildProcess[] {
    return [...this.#children].filter(([name]) => name.startsWith(prefix)).map(([, child]) => child)
  }
}

function post(child: ChildProcess, message: ToChild): void {
  if (child.connected) child.send(message, () => {}) // that it is gone is told by its exit
}

/** Undefined if it ends, or says nothing in time. */
function answered(
  child: ChildProcess,
  type: FromChild['type'],
  ms = TAKE_MS,
): Promise<FromChild | undefined> {
  return new Promise((resolve) => {
    const onMessage = (message: FromChild) => {
      if (message.type === type) finish(message)
    }
    const done = () => finish(undefined)
    const finish = (message: FromChild | undefined) => {
      clearTimeout(timer)
      child.off('message', onMessage).off('exit', done)
      resolve(message)
    }
    const timer = setTimeout(done, ms)
    child.on('message', onMessage).once('exit', done)
  })
}

async function endChild(child: ChildProcess, ms: number, finishMs?: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  post(child, { type: 'stop', ...(finishMs !== undefined && { finishMs }) })
  const timer = setTimeout(() => child.kill('SIGKILL'), ms)
  await gone
  clearTimeout(timer)
}
