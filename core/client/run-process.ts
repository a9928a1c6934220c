/** What ends the function of a process that is there for it alone: signals, and errors that nobody caught. */
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
