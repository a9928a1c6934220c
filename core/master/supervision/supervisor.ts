import type { Logins } from '../../auth/login/limit.ts'
import type { Log } from '../../author/context.ts'
import { backoff } from '../../base/backoff.ts'
import { deferred } from '../../base/deferred.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import type { Snapshot } from '../../metrics/index.ts'
import { Child, type ChildEnd } from '../../process/child.ts'
import { processEntry } from '../../process/process-entry.ts'
import { Silence, workOf } from '../../process/silence.ts'
import { LoginLimitServer } from './login-limits.ts'
import { LARGE_DATA_MEMORY, SMALL_REQUESTS_MEMORY } from './memory.ts'
import type { FromChild, ToChild } from './messages.ts'
import { watchStart } from './starting.ts'

export interface ChildSpec {
  readonly name: string
  /** Its file in `core`, for `processEntry`. */
  readonly entry:
    | 'master/publisher/publisher-process'
    | 'master/returners/returner-process'
    | 'master/cluster/cluster-process'
    | 'master/worker/worker-process'
    | 'api/api-process'
  start(): Extract<ToChild, { type: 'start' | 'serve' }>
  onGone?(): void
  /** Called with an AES key that another master of the cluster uses. */
  onAdopt?(aes: string, revoke: boolean): void
  /** Called when it does not answer pings and is replaced. */
  onHang?(): void
}

type MasterChild = Child<ToChild, FromChild>

/** Delays before a child that died is started again: the first one, and the longest one if its starts keep failing. */
const RESTART = { minMs: 100, maxMs: 5_000 }
const PING_MS = 1_000
/** A child that answers no pings hangs once it has been idle for so long, or has used so much processor time. */
const MAX_IDLE_MS = 5_000
const MAX_USED_MS = 30_000
/** How long the others wait for a child that has to process a message first. */
const TAKE_MS = 1_000

/** Children that get `LARGE_DATA_MEMORY`. */
const BULKY: ReadonlySet<ChildSpec['entry']> = new Set([
  'master/returners/returner-process',
  'api/api-process',
])

/** Starts the children of the master, and restarts those that die, until stopped. */
export class Supervisor {
  readonly #log: Log
  readonly #children = new Map<string, MasterChild>()
  /** Number of restarts by name. */
  readonly restarts = new Map<string, number>()
  /** Names of children that are to run: one that ends is started again. */
  readonly #wanted = new Set<string>()
  /** Starts that are due, by name. */
  readonly #dueStarts = new Map<string, NodeJS.Timeout>()
  #stopping = false

  readonly #logins: Logins

  /** `logins` counts wrong passwords for all workers. */
  constructor(log: Log, logins: Logins) {
    this.#log = log
    this.#logins = logins
  }

  /** Resolves when the child is ready; rejects if its first start fails, or is ended by `stop`. */
  async start(spec: ChildSpec): Promise<void> {
    if (this.#stopping)
      throw new SaltError('CANCELLED', `${spec.name} is not started any more: the master is stopping.`)
    this.#wanted.add(spec.name)
    const ready = deferred<void>()
    let running = false
    let failure = new SaltError('COMMAND_EXECUTION', `${spec.name} ended while it was starting`)
    const onMessage = (message: FromChild) => {
      if (message.type === 'ready') {
        running = true
        clearInterval(starting)
        this.#watch(spec, child)
        for (const problem of message.problems ?? []) this.#log.error(problem)
        ready.resolve()
      } else if (message.type === 'failed')
        failure = new SaltError(message.code ?? 'COMMAND_EXECUTION', message.message)
      else if (message.type === 'call_check') this.tell(message, 'MWorker')
      else if (message.type === 'adopt') spec.onAdopt?.(message.aes, message.revoke)
      else if (message.type === 'queued') this.tell(message, 'returner')
      else if (message.type === 'log_in' || message.type === 'logged_in') void loginLimit.take(message)
    }
    const onEnd = ({ code, signal, error }: ChildEnd) => {
      clearInterval(starting)
      loginLimit.close()
      if (this.#children.get(spec.name) === child) this.#children.delete(spec.name)
      spec.onGone?.()
      if (error)
        failure = new SaltError('COMMAND_EXECUTION', `${spec.name} cannot be started: ${error.message}`)
      ready.reject(failure)
      if (running) this.#restart(spec, signal ?? code)
    }
    const child: MasterChild = new Child({
      entry: processEntry(spec.entry),
      execArgv: (BULKY.has(spec.entry) ? LARGE_DATA_MEMORY : SMALL_REQUESTS_MEMORY).flags,
      env: { ...SMALL_REQUESTS_MEMORY.env, ...process.env },
      onMessage,
      onEnd,
    })
    this.#children.set(spec.name, child)
    const loginLimit = new LoginLimitServer(this.#logins, (answer) => child.send(answer))
    const starting = watchStart(child, spec.name, this.#log)
    child.send(spec.start())
    return ready.promise
  }

  /** Start a child that the others can work without: if that fails, it is retried until it is ended. */
  keep(spec: ChildSpec): void {
    if (!this.#wanted.has(spec.name)) void this.#startOrRetry(spec)
  }

  /** End a child once it has finished its pending work, after `ms` at the latest, and do not start it again. */
  async end(name: string, ms: number): Promise<void> {
    this.#wanted.delete(name)
    clearTimeout(this.#dueStarts.get(name))
    this.#dueStarts.delete(name)
    await this.#children.get(name)?.stop({ type: 'stop', finishMs: ms }, ms)
  }

  /** End the child and start it by its current specification. Does nothing if it is already restarting. */
  async replace(spec: ChildSpec, ms: number): Promise<void> {
    if (!this.#children.has(spec.name)) return
    await this.end(spec.name, ms)
    if (!this.#stopping) await this.#startOrRetry(spec)
  }

  /** Start a child, and retry if that fails. Resolves when the first attempt has ended. */
  #startOrRetry(spec: ChildSpec, delays = backoff(RESTART)): Promise<void> {
    return this.start(spec).catch((error: unknown) => this.#restart(spec, messageOf(error), delays))
  }

  #restart(spec: ChildSpec, how: string | number | null, delays = backoff(RESTART)): void {
    if (this.#stopping || !this.#wanted.has(spec.name)) return
    this.#log.error(`${spec.name} ended (${how}) and is started again`)
    this.restarts.set(spec.name, (this.restarts.get(spec.name) ?? 0) + 1)
    const due = setTimeout(() => {
      this.#dueStarts.delete(spec.name)
      if (!this.#stopping) void this.#startOrRetry(spec, delays)
    }, delays.next())
    this.#dueStarts.set(spec.name, due)
  }

  /** Kill the child when it hangs. */
  #watch({ name, onHang }: ChildSpec, child: MasterChild): void {
    let silence = new Silence()
    child.watch({
      everyMs: PING_MS,
      hangs: (unanswered) => {
        if (unanswered === 0) silence = new Silence()
        else silence.add(PING_MS, workOf(child.pid))
        return silence.idleMs >= MAX_IDLE_MS || silence.usedMs >= MAX_USED_MS
      },
      onHang: () => {
        this.#log.error(`${name} does not respond and is replaced`)
        onHang?.()
        child.kill('SIGKILL')
      },
    })
  }

  /** Tell all children, or those whose name starts with `prefix`. */
  tell(message: ToChild, prefix = ''): void {
    for (const child of this.#named(prefix)) child.send(message)
  }

  /** Send children a new AES key. Resolves when they use it; for one that hangs, after `TAKE_MS`. */
  async tellRotation(message: Extract<ToChild, { type: 'rotate' }>, prefix: string): Promise<void> {
    const taken = this.#named(prefix).map((child) => child.next('rotated', TAKE_MS))
    this.tell(message, prefix)
    await Promise.all(taken)
  }

  /**
   * Return the snapshot and process id of each child that `isWanted` selects; undefined for one that does not answer within
   * `ms`.
   */
  async measured(
    ms: number,
    isWanted: (name: string) => boolean,
  ): Promise<Map<string, { pid: number; snapshot: Snapshot } | undefined>> {
    const wanted = [...this.#children].filter(([name]) => isWanted(name))
    const asked = wanted.map(async ([name, child]) => {
      const answer = child.next('measured', ms)
      child.send({ type: 'measure' })
      const message = await answer
      const { pid = 0 } = child
      return [name, message && { pid, snapshot: message.snapshot }] as const
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
    await Promise.all(this.#named(prefix).map((child) => child.stop({ type: 'stop' }, ms)))
  }

  #named(prefix: string): MasterChild[] {
    return [...this.#children].filter(([name]) => name.startsWith(prefix)).map(([, child]) => child)
  }
}
