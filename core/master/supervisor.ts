import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Log } from '../author/context.ts'
import { deferred } from '../base/deferred.ts'
import { SaltError } from '../base/errors.ts'
import type { FromChild, ToChild } from './messages.ts'

export interface ChildSpec {
  readonly name: string
  /** Compiled file beside this one. */
  readonly entry: 'publisher-process' | 'worker-process'
  start(): Extract<ToChild, { type: 'start' }>
  onGone?(): void
}

/** A child that died is started again after this long. */
const RESTART_MS = 100
const STOP_MS = 3000

const compiled = import.meta.url.endsWith('.ts') ? '../../dist/core/master/' : './'

/** Starts the children of the master, and again when they die, until stopped. */
export class Supervisor {
  readonly #log: Log
  readonly #children = new Map<string, ChildProcess>()
  readonly #onMessage: (message: FromChild) => void
  #stopping = false

  constructor(log: Log, onMessage: (message: FromChild) => void) {
    this.#log = log
    this.#onMessage = onMessage
  }

  /** Resolves when the child is ready; rejects if its first start fails. */
  async start(spec: ChildSpec): Promise<void> {
    const ready = deferred<void>()
    const entry = fileURLToPath(new URL(`${compiled}${spec.entry}.js`, import.meta.url))
    const child = fork(entry, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: ['--max-semi-space-size=4'],
    })
    this.#children.set(spec.name, child)
    let running = false
    child.on('message', (message: FromChild) => {
      if (message.type === 'ready') {
        running = true
        ready.resolve()
      } else if (message.type === 'failed') ready.reject(new SaltError('CONFIG_INVALID', message.message))
      else this.#onMessage(message)
    })
    child.once('exit', (code, signal) => {
      this.#children.delete(spec.name)
      spec.onGone?.()
      ready.reject(new SaltError('MASTER_UNREACHABLE', `${spec.name} ended while it was starting`))
      if (running && !this.#stopping) this.#restart(spec, signal ?? code)
    })
    child.send(spec.start())
    return ready.promise
  }

  #restart(spec: ChildSpec, how: string | number | null): void {
    this.#log.error(`${spec.name} ended (${how}) and is started again`)
    setTimeout(() => {
      if (this.#stopping) return
      this.start(spec).catch((error: unknown) => {
        this.#log.error(
          `${spec.name} could not be started again: ${error instanceof Error ? error.message : error}`,
        )
        if (!this.#stopping && !this.#children.has(spec.name)) this.#restart(spec, 'failed start')
      })
    }, RESTART_MS)
  }

  tell(message: ToChild, name?: string): void {
    for (const [child, process] of this.#children) {
      if ((!name || name === child) && process.connected) process.send(message)
    }
  }

  kill(name: string): void {
    this.#children.get(name)?.kill('SIGKILL')
  }

  pidOf(name: string): number | undefined {
    return this.#children.get(name)?.pid
  }

  /** Ask all children whose name starts with `prefix` to end; kill those that do not. */
  async stop(prefix = ''): Promise<void> {
    this.#stopping = true
    const leaving = [...this.#children].filter(([name]) => name.startsWith(prefix))
    await Promise.all(leaving.map(([, child]) => endChild(child)))
  }
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  if (child.connected) child.send({ type: 'stop' } satisfies ToChild)
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await gone
  clearTimeout(timer)
}
