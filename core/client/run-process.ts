/** What ends the function of a process that is there for it alone: signals, and errors that nobody caught. */
import { Worker } from 'node:worker_threads'
import { SaltError } from '../base/errors.ts'

export interface RunEndings {
  /** Aborted with the reason. */
  readonly signal: AbortSignal
  /** Whether it was Ctrl-C. */
  interrupted(): boolean
}

/** `what` names the function in sentences; `onInterrupt` is called for the first Ctrl-C. */
export function watchEndings(what: string, onInterrupt = () => {}): RunEndings {
  const stop = new AbortController()
  let interrupted = false
  const killed = (how: string) =>
    stop.abort(new SaltError('CANCELLED', `${what} was killed (${how}) before it was done.`))
  process.once('SIGINT', () => {
    interrupted = true
    onInterrupt()
    killed('Ctrl-C')
  })
  process.once('SIGTERM', () => killed('SIGTERM'))
  process.on('uncaughtException', (error) => stop.abort(error)) // also what a promise was rejected with unseen
  return { signal: stop.signal, interrupted: () => interrupted }
}

/** A function ends within a second of its time-out, and its end is stored and told: it has so long for that. Milliseconds. */
const GRACE_MS = 4000

const KILLER = `
const { workerData: { pid, ms, sentence } } = require('node:worker_threads')
setTimeout(() => {
  try { require('node:fs').writeSync(2, sentence) } catch {}
  process.kill(pid, 'SIGKILL')
}, ms)
`

/**
 * Kill this process after its time-out (`runner_timeout`, seconds; 0: none) if the function, in a loop without an end, does not
 * hear of it; with all it started, if this is a group of its own.
 */
export function killAfter(what: string, seconds: number, isGroup: boolean): void {
  if (seconds <= 0) return
  const sentence = `ERROR: ${what} was not done after ${seconds} s (runner_timeout), and did not end by itself: it is killed.\n`
  const workerData = { pid: isGroup ? -process.pid : process.pid, ms: seconds * 1000 + GRACE_MS, sentence }
  new Worker(KILLER, { eval: true, workerData, execArgv: [] }).unref()
}
