/** The processes of `npm start`: two daemons, and commands that run one after the other. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { deferred } from '../../base/deferred.ts'
import { packageRoot } from '../../process/own-package.ts'
import { exitCodes } from '../exit-codes.ts'

/** How long a daemon has to stop before it is killed. */
const STOP_TIMEOUT_MS = 4_000

export interface Programs {
  /** Start a daemon. It shows errors here and logs the rest to its file. */
  start(name: 'salt-master' | 'salt-minion'): void
  /**
   * Show and run a command.
   * @throws Error if its exit code is not 0
   */
  type(name: string, ...args: string[]): Promise<void>
  /** Rejects when a daemon ends that was not stopped. */
  readonly failed: Promise<never>
  /** Stop everything. No process is left when this resolves. */
  stop(): Promise<void>
}

/** `interrupted` resolves when a signal has asked this process to stop. */
export function openPrograms(configDir: string, interrupted: Promise<void>): Programs {
  const daemons: ChildProcess[] = []
  const failure = deferred<never>()
  failure.promise.catch(() => undefined)
  let typed: ChildProcess | undefined
  let stopping = false
  // Processes are in groups of their own: Ctrl-C reaches this process alone, which stops them in order.
  const launch = (name: string, args: readonly string[]) => {
    if (stopping) throw new Error(`${name} is not started: npm start is stopping`)
    return spawn(process.execPath, [join(packageRoot, 'bin', name), '-c', configDir, ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: true,
    })
  }

  return {
    failed: failure.promise,
    start(name) {
      const child = launch(name, ['-l', 'error'])
      daemons.push(child)
      child.once('exit', async (code, signal) => {
        if (wasInterrupted(code, signal)) await interrupted
        if (!stopping) failure.reject(new Error(`${name} ended by itself (${signal ?? `exit code ${code}`})`))
      })
    },
    async type(name, ...args) {
      process.stdout.write(`\n$ ${[name, ...args].map(quoted).join(' ')}\n`)
      typed = launch(name, args)
      const [code, signal] = await once(typed, 'exit')
      if (wasInterrupted(code, signal)) await interrupted
      if (code !== 0) throw new Error(`${name} ${args.join(' ')} failed (${signal ?? `exit code ${code}`})`)
    },
    async stop() {
      stopping = true
      typed?.kill('SIGKILL')
      for (const child of daemons.toReversed()) await stopDaemon(child, STOP_TIMEOUT_MS / daemons.length)
    },
  }
}

/** Whether Ctrl-C has ended a process: one that has just been forked is not in its own group yet, so that it gets the signal, too. */
const wasInterrupted = (code: number | null, signal: NodeJS.Signals | null): boolean =>
  signal === 'SIGINT' || code === exitCodes.interrupted

async function stopDaemon(child: ChildProcess, ms: number): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), ms)
  await gone
  clearTimeout(timer)
}

/** Quote a word for the shell if necessary. */
function quoted(word: string): string {
  return /^[\w./:@=+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
