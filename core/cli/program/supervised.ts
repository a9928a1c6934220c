/** Runs a command again in a child process, which can be killed whatever code of users does in it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { exitText, StderrFilter } from '../../process/stderr-filter.ts'
import { exitCodes } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'

/** Set in the environment of the worker process. */
const SUPERVISED = 'SALT_TS_SUPERVISED'

/**
 * How long after a signal the worker is killed. It normally ends within a second, and three seconds after Ctrl-C at
 * the latest.
 */
const KILL_AFTER_MS = 4000

let isWorker = false

/** Whether this process is the worker. */
export function isSupervised(): boolean {
  if (process.env[SUPERVISED] === undefined) return isWorker
  delete process.env[SUPERVISED] // its children are not workers
  isWorker = true
  // The terminal and the parent both send signals to this process; the first one counts.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel?.unref()
  return true
}

/** Whether this process was started as that program, so that it can start it again. */
export const canSupervise = (program: string): boolean =>
  !isSupervised() && basename(process.argv[1] ?? '') === program

/** Wait until everything written to standard error is shown, so that standard output comes after it. */
export async function stderrFlushed(): Promise<void> {
  if (!isWorker || !process.connected) return
  process.channel?.ref()
  await new Promise<void>((resolve) => {
    process.once('message', () => resolve())
    process.send?.('shown?')
    process.once('disconnect', resolve)
  })
  process.channel?.unref()
}

/**
 * Start this program again as worker, and return its exit code. `what` names its work in messages; `onStderr` gets
 * text that native code writes; `onKilled` runs after the worker was killed or crashed.
 */
export async function supervise(
  what: string,
  onStderr: (text: string) => void,
  onKilled: () => Promise<void>,
) {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'pipe', 'ipc'],
    env: { ...process.env, [SUPERVISED]: '1' },
  })
  const lastWords = new StderrFilter(child.stderr, { native: onStderr })
  const asked = passSignalsOn(child)
  // Text written before this message is in the pipe already, and is read in this turn of the event loop or the next.
  child.on('message', () => setImmediate(() => setImmediate(() => child.connected && child.send('shown'))))
  const { code, signal } = await ended(child)
  const reason = await lastWords.reason()
  if (code !== null) return code
  await onKilled()
  if (!asked()) printNote(`ERROR: The process of ${what} ${exitText(code, signal, reason)}.`)
  else if (signal === 'SIGKILL') printNote(`ERROR: ${what} did not end in time and was killed.`)
  return asked() === 'SIGINT' ? exitCodes.interrupted : exitCodes.failed
}

/**
 * Pass the first signal on. If the worker does not end in time, or a second signal comes, it is killed with all its
 * children.
 */
function passSignalsOn(child: ChildProcess): () => NodeJS.Signals | undefined {
  let asked: NodeJS.Signals | undefined
  const kill = () => {
    for (const pid of processTreeOf(child.pid ?? 0)) signal(pid, 'SIGKILL')
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      if (asked) return kill()
      asked = name
      child.kill(name)
      void delay(KILL_AFTER_MS, undefined, { ref: false }).then(kill)
    })
  return () => asked
}

const ended = (child: ChildProcess) =>
  new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })

/** Return a process and its descendants. The process group does not help: it is that of the shell's pipeline. */
function processTreeOf(pid: number): number[] {
  const parents = new Map(readdirSync('/proc').map((name) => [Number(name), parentOf(name)] as const))
  const family = [pid]
  for (const member of family)
    for (const [child, parent] of parents) if (parent === member) family.push(child)
  return family
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined // no process, or gone
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // the process is gone
  }
}
