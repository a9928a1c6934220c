import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { CommandExecutionError } from 'salt-ts'
import type { Identity } from './login.ts'
import { type Collected, openStdio, type Stdio } from './stdio.ts'
import { killTree, terminateTree } from './tree.ts'
import { veiled } from './veil.ts'

/** Everything that is needed to start a command. */
export interface ProcessPlan {
  /** The program and its arguments. No shell interprets them, unless it is the program. */
  readonly words: readonly string[]
  /** Name in logs and errors: the command's first word, since the rest may hold secrets. */
  readonly label: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly input?: Buffer
  readonly merged: boolean
  /** Octal digits. */
  readonly umask?: string
  readonly identity: Identity
  readonly timeoutMs?: number
}

export interface Ended {
  readonly pid: number
  /** Exit code, or the negative number of the signal that ended the command, as in Python. */
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: Buffer
  readonly timedOut: boolean
}

type Interruption = 'timeout' | 'cancelled' | 'too much output'
type Exit = Promise<[code: number | null, signal: NodeJS.Signals | null]>

// Less than the second after SIGTERM in which a job process has to end.
const GRACE_MS = 500
/** Long, since many processes on a busy machine take a while to end. */
const KILL_MS = 5000

/**
 * Run a command until it has exited and no process has its output open, or until it times out. Rejects if its job is
 * cancelled, or if it writes more than a return can hold.
 */
export async function runProcess(plan: ProcessPlan, signal: AbortSignal): Promise<Ended> {
  if (signal.aborted) throw cancelled(plan)
  const stdio = await openStdio(plan.merged, plan.input)
  const child = await start(plan, stdio)
  const exit = once(child, 'exit') as Exit
  const collected = stdio.attach(child)
  const reason = await endOrInterruption(exit, collected, plan, signal)
  if (reason) await stop(child, exit, collected, stdio, reason)
  if (reason === 'cancelled') throw cancelled(plan)
  if (reason === 'too much output') throw tooMuch(plan)
  const code = reason ? 1 : codeOf(await exit)
  return { pid: child.pid!, code, stdout: collected.stdout(), stderr: collected.stderr(), timedOut: !!reason }
}

/** Start a command in a new session, leave it running, and return its pid. */
export async function startInBackground(plan: ProcessPlan): Promise<number> {
  const child = await launch(plan, true, { stdio: 'ignore', detached: true })
  child.unref()
  return child.pid!
}

async function start(plan: ProcessPlan, stdio: Stdio): Promise<ChildProcess> {
  try {
    return await launch(plan, stdio.joined, { stdio: stdio.stdio })
  } catch (cause) {
    stdio.discard()
    throw cause
  }
}

// Puts helpers in front of the command: setpriv changes the user, a fixed shell line does what spawn cannot (the
// variables of another user, umask, 2>&1).
function launchWords(plan: ProcessPlan, joined: boolean, unveil: string): string[] {
  const settings = [
    ...(unveil ? [unveil] : []),
    ...(plan.umask ? ['umask "$1"; shift'] : []),
    `exec "$@"${plan.merged && !joined ? ' 2>&1' : ''}`,
  ]
  const needsShell = settings.length > 1 || (plan.merged && !joined)
  const wrapped = needsShell
    ? ['/bin/sh', '-c', settings.join('; '), 'sh', ...(plan.umask ? [plan.umask] : []), ...plan.words]
    : plan.words
  return [...plan.identity.prefix, ...wrapped]
}

async function launch(plan: ProcessPlan, joined: boolean, how: SpawnOptions): Promise<ChildProcess> {
  const { env, unveil } = plan.identity.prefix.length > 0 ? veiled(plan.env) : { env: plan.env, unveil: '' }
  const [file = '', ...args] = launchWords(plan, joined, unveil)
  try {
    const child = spawn(file, args, { cwd: plan.cwd, env, ...plan.identity.spawn, ...how })
    await once(child, 'spawn')
    return child
  } catch (cause) {
    throw new CommandExecutionError(`Unable to run command '${plan.label}', reason: ${reasonOf(cause)}`)
  }
}

// Node's own message shows all arguments, which may be secret.
function reasonOf(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown'
  const known: Record<string, string> = {
    ENOENT: 'No such file or directory',
    EACCES: 'Permission denied',
    E2BIG: 'Argument list too long',
    ENOEXEC: 'Exec format error',
    EAGAIN: 'Resource temporarily unavailable',
    ENOMEM: 'Cannot allocate memory',
  }
  return Object.hasOwn(known, code) ? `${known[code]} (${code})` : code
}

function endOrInterruption(
  exit: Exit,
  collected: Collected,
  plan: ProcessPlan,
  signal: AbortSignal,
): Promise<Interruption | undefined> {
  return new Promise((resolve) => {
    const settle = (reason?: Interruption) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      resolve(reason)
    }
    const abort = () => settle('cancelled')
    const timer = plan.timeoutMs ? setTimeout(settle, plan.timeoutMs, 'timeout' as const) : undefined
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    Promise.all([exit, collected.closed]).then(
      () => settle(),
      () => settle('too much output'),
    )
  })
}

// Commands of a cancelled job may clean up first. A command that timed out is killed at once, as in Salt.
async function stop(
  child: ChildProcess,
  exit: Exit,
  collected: Collected,
  stdio: Stdio,
  reason: Interruption,
) {
  if (reason === 'cancelled') {
    terminateTree(child.pid!, stdio.pipes)
    await within(GRACE_MS, Promise.allSettled([exit, collected.closed]))
  }
  await killTree(child.pid!, stdio.pipes, reason === 'cancelled' ? GRACE_MS : KILL_MS)
  collected.destroy()
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

const codeOf = ([code, signal]: Awaited<Exit>): number =>
  code ?? -(signal === null ? 1 : constants.signals[signal])

const cancelled = (plan: ProcessPlan) =>
  new CommandExecutionError(`The command '${plan.label}' was stopped because its job was cancelled`)

const tooMuch = (plan: ProcessPlan) =>
  new CommandExecutionError(
    `The command '${plan.label}' was stopped because it wrote more than a return can hold; redirect its output to a file`,
  )
