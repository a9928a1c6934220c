import { type ChildProcess, fork } from 'node:child_process'
import { exitText, StderrFilter } from './stderr-filter.ts'

/** A message between two processes of salt-ts: plain data with a type. */
export interface ProcessMessage {
  readonly type: string
}

type OfType<M extends ProcessMessage, T extends M['type']> = Extract<M, { readonly type: T }>

/** Sent by `Child.watch` and answered by `connectParent`. They are not passed to `onMessage`. */
export type Ping = { readonly type: 'ping' }
export type Pong = { readonly type: 'pong' }

export interface ChildEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Set if the process could not be started. */
  readonly error?: Error
}

export interface ChildSettings<From extends ProcessMessage> {
  /** Path of the compiled file, from `processEntry`. */
  readonly entry: string
  onMessage?(message: From): void
  /** Called once when the process has ended or could not be started. */
  onEnd?(end: ChildEnd): void
  readonly stdout?: 'inherit' | 'ignore'
  /**
   * Destination of standard error. `filter`: that of this process, without the stacks that V8 and Node write at a crash, which are
   * passed to `onNative`.
   */
  readonly stderr?: 'inherit' | 'ignore' | 'filter'
  onNative?(text: string): void
  readonly env?: NodeJS.ProcessEnv
  readonly execArgv?: readonly string[]
  /** Start the process in a new session and process group. */
  readonly detached?: boolean
}

/** Settings for detecting a process that hangs. */
export interface PingSettings {
  readonly everyMs: number
  /** Whether the process hangs, now that so many pings in a row are unanswered. */
  hangs(unanswered: number): boolean
  onHang(): void
}

/** A child process with a typed message channel: it receives messages of type `To` and sends those of type `From`. */
export class Child<To extends ProcessMessage, From extends ProcessMessage> {
  readonly #process: ChildProcess
  readonly #stderr: StderrFilter
  readonly #listeners = new Set<(message: From) => void>()
  readonly #endListeners = new Set<() => void>()
  #hasReportedEnd = false
  #ping: NodeJS.Timeout | undefined
  #unanswered = 0
  /** Resolves when the process has ended or could not be started. */
  readonly ended: Promise<ChildEnd>

  constructor({
    entry,
    stdout = 'inherit',
    stderr = 'inherit',
    execArgv,
    env,
    detached = false,
    ...on
  }: ChildSettings<From>) {
    const child = fork(entry, [], {
      serialization: 'advanced',
      stdio: ['ignore', stdout, stderr === 'filter' ? 'pipe' : stderr, 'ipc'],
      detached,
      ...(execArgv && { execArgv: [...execArgv] }),
      ...(env && { env }),
    })
    this.#process = child
    this.#stderr = new StderrFilter(child.stderr, { native: (text) => on.onNative?.(text) })
    this.#listeners.add((message) => on.onMessage?.(message))
    child.on('message', (message: From | Pong) => this.#onMessage(message))
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }))
      child.on('error', (error) => {
        if (child.pid === undefined) resolve({ code: null, signal: null, error })
      })
    })
    void this.ended.then((end) => {
      clearInterval(this.#ping)
      this.#hasReportedEnd = true
      on.onEnd?.(end)
      for (const listener of [...this.#endListeners]) listener()
    })
  }

  /** Undefined if the process could not be started. */
  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Whether the channel is open. */
  get connected(): boolean {
    return this.#process.connected
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null
  }

  /** Send a message. It is lost if the process has ended, which `ended` reports. */
  send(message: To | Ping): void {
    if (this.#process.connected) this.#process.send(message, () => {})
  }

  /** Call `listener` for every message. Returns a function that removes the listener. */
  listen(listener: (message: From) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Call `listener` when the process has ended or could not be started. Returns a function that removes the listener. */
  onceEnded(listener: () => void): () => void {
    if (this.#hasReportedEnd) queueMicrotask(listener)
    else this.#endListeners.add(listener)
    return () => this.#endListeners.delete(listener)
  }

  /** Resolves with the next message of a type; undefined if the process ends or sends none within `ms` milliseconds. */
  next<T extends From['type']>(type: T, ms: number): Promise<OfType<From, T> | undefined> {
    return new Promise((resolve) => {
      const finish = (message?: OfType<From, T>) => {
        clearTimeout(timer)
        stopListening()
        stopWaiting()
        resolve(message)
      }
      const stopListening = this.listen((message) => {
        if (message.type === type) finish(message as OfType<From, T>)
      })
      const timer = setTimeout(finish, ms)
      const stopWaiting = this.onceEnded(() => finish())
    })
  }

  /** Ping the process until it ends. Counts pings, not time, so that a suspended host does not make a process look hung. */
  watch({ everyMs, hangs, onHang }: PingSettings): void {
    clearInterval(this.#ping)
    this.#unanswered = 0
    this.#ping = setInterval(() => {
      if (hangs(this.#unanswered++)) onHang()
      else this.send({ type: 'ping' })
    }, everyMs)
  }

  /** Send a message that asks the process to end, and kill it after `ms` milliseconds. Resolves when it has ended. */
  async stop(message: To, ms: number): Promise<void> {
    if (this.hasEnded) return
    this.send(message)
    const timer = setTimeout(() => this.kill('SIGKILL'), ms)
    await this.ended
    clearTimeout(timer)
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** Close the channel. */
  disconnect(): void {
    if (this.#process.connected) this.#process.disconnect()
  }

  /** Close the channel, and let this process exit before the child. */
  leave(): void {
    this.disconnect()
    this.#process.unref()
  }

  /**
   * Resolves with a clause about the end of the process: `ended with exit code 1`, `ran out of memory: …`, `cannot be started:
   * …`.
   */
  async howItEnded(): Promise<string> {
    const { code, signal, error } = await this.ended
    if (error) return `cannot be started: ${error.message}`
    return exitText(code, signal, await this.#stderr.reason())
  }

  #onMessage(message: From | Pong): void {
    if (message.type === 'pong') this.#unanswered = 0
    else for (const listener of [...this.#listeners]) listener(message as From)
  }
}
