/** A command again in a process that can be ended whatever the code of users does there, by this one, which waits for it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { howItEnded, LastWords } from '../base/last-words.ts'
import { tell } from './console.ts'
import { exitCodes } from './exit-codes.ts'

/** Set in the process that does the work. */
const SUPERVISED = 'SALT_TS_SUPERVISED'

/** It ends within a second of a signal, and is left behind three seconds after Ctrl-C: unless it hears neither. Milliseconds. */
const GRACE_MS = 4000

let isDoing = false

/** Whether this process does the work. */
export function isSupervised(): boolean {
  if (process.env[SUPERVISED] === undefined) return isDoing
  delete process.env[SUPERVISED] // what it starts is not
  isDoing = true
  // The terminal and the process that waits both send it signals; the first counts.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel?.unref()
  return true
}

/** Whether this process was started as the program, and can be started as it once more. */
export const canSupervise = (program: string): boolean =>
  !isSupervised() && basename(process.argv[1] ?? '') === program

/** Resolves when all that was written to standard error is shown: what comes on standard output then comes after it. */
export async function errorsShown(): Promise<void> {
  if (!isDoing || !process.connected) return
  process.channel?.ref()
  await new Promise<void>((resolve) => {
    process.once('message', () => resolve())
    process.send?.('shown?')
    process.once('disconnect', resolve)
  })
  process.channel?.unref()
}

/**
 * Start this program again, and wait for it; gives its exit code. `what` names its work in sentences. `killed` is called
 * after it had to be killed, or died.
 */
export async function supervise(what: string, native: (text: string) => void, killed: () => Promise<void>) {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'pipe', 'ipc'],
    env: { ...process.env, [SUPERVISED]: '1' },
  })
  const lastWords = new LastWords(child.stderr, { native })
  const asked = passSignalsOn(child)
  // What was written before this message is in the pipe already: it is read in this turn of the event loop, or the next.
  child.on('message', () => setImmediate(() => setImmediate(() => child.connected && child.send('shown'))))
  const { code, signal } = await ended(child)
  const reason = await lastWords.reason()
  if (code !== null) return code
  await killed()
  if (!asked()) tell(`ERROR: The process of ${what} ${howItEnded(code, signal, reason)}.`)
  else if (signal === 'SIGKILL') tell(`ERROR: ${what} did not end by itself: it was killed.`)
  return asked() === 'SIGINT' ? exitCodes.interrupted : exitCodes.failed
}

/** The first signal is passed on; who does not end by it in time, or gets a second one, is killed with all it started. */
function passSignalsOn(child: ChildProcess): () => NodeJS.Signals | undefined {
  let asked: NodeJS.Signals | undefined
  const kill = () => {
    for (const pid of familyOf(child.pid ?? 0)) signal(pid, 'SIGKILL')
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      if (asked) return kill()
      asked = name
      child.kill(name)
      void delay(GRACE_MS, undefined, { ref: false }).then(kill)
    })
  return () => asked
}

const ended = (child: ChildProcess) =>
  new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })

/** A process and all it started that is still its own; it shares its process group with the shell's pipeline. */
function familyOf(pid: number): number[] {
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
    // it is gone
  }
}
