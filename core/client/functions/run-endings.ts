/** Signals and uncaught errors, which end the function of a process that runs nothing else. */
import { Worker } from 'node:worker_threads'
import { SaltError } from '../../base/errors.ts'

export interface RunTermination {
  /** Aborted with the reason when the function has to end. */
  readonly signal: AbortSignal
  /** Whether Ctrl-C ended it. */
  interrupted(): boolean
}

/** Watch for signals and uncaught errors. `what` names the function in messages; `onInterrupt` is called for the first Ctrl-C. */
export function watchTermination(what: string, onInterrupt = () => {}): RunTermination {
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
  process.on('uncaughtException', (error) => stop.abort(error)) // also unhandled rejections
  return { signal: stop.signal, interrupted: () => interrupted }
}

/** How long after its time-out a function may take to end, and its end to be stored and announced. */
const GRACE_MS = 4000

const KILLER = `
const { workerData: { pid, ms, sentence } } = require('node:worker_threads')
setTimeout(() => {
  try { require('node:fs').writeSync(2, sentence) } catch {}
  process.kill(pid, 'SIGKILL')
}, ms)
`

/**
 * Kill this process after `seconds` (`runner_timeout`; 0: never) and a grace time, if the function blocks the event loop and
 * so never sees its signal. Kills the whole process group if the process leads one.
 */
export function killAfterTimeout(what: string, seconds: number, isGroup: boolean): void {
  if (seconds <= 0) return
  const sentence = `ERROR: ${what} ran longer than ${seconds} s (runner_timeout) and did not stop when it was aborted; it is killed.\n`
  const workerData = { pid: isGroup ? -process.pid : process.pid, ms: seconds * 1000 + GRACE_MS, sentence }
  new Worker(KILLER, { eval: true, workerData, execArgv: [] }).unref()
}
