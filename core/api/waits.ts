import type { FastifyReply } from 'fastify'
import { SaltError } from '../base/errors.ts'
import { MAX_TIMER_MS } from '../base/with-timeout.ts'
import type { ApiContext } from './context.ts'

/**
 * Throw if the client has disconnected already: its socket emits no further event about it.
 * @throws SaltError CANCELLED
 */
export function throwIfClientLeft({ raw }: FastifyReply): void {
  if (raw.destroyed) throw new SaltError('CANCELLED', 'The client has left.')
}

/**
 * Run `work` with a signal that is aborted when the HTTP client disconnects or the server stops. Only the wait ends:
 * jobs and runners that were started go on.
 */
export async function untilClientLeaves<T>(
  { stopping }: ApiContext,
  { raw }: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const waiting = new AbortController()
  const left = () => {
    if (!raw.writableFinished) waiting.abort(new SaltError('CANCELLED', 'The client has left.'))
  }
  const stop = () =>
    waiting.abort(new SaltError('CANCELLED', 'salt-api is stopping. Jobs that were started go on.'))
  raw.once('close', left)
  stopping.addEventListener('abort', stop, { once: true })
  if (stopping.aborted) stop()
  if (raw.destroyed) left()
  try {
    waiting.signal.throwIfAborted()
    return await work(waiting.signal)
  } finally {
    raw.off('close', left)
    stopping.removeEventListener('abort', stop)
  }
}

/** Derive a signal that is also aborted with the error of `late` after a number of seconds. `clear` clears the timer. */
export function signalWithTimeout(
  signal: AbortSignal,
  seconds: number,
  late: () => SaltError,
): { readonly signal: AbortSignal; clear(): void } {
  const both = new AbortController()
  const pass = () => both.abort(signal.reason)
  const timer = setTimeout(() => both.abort(late()), Math.min(seconds * 1000, MAX_TIMER_MS))
  signal.addEventListener('abort', pass, { once: true })
  if (signal.aborted) pass()
  const clear = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', pass)
  }
  return { signal: both.signal, clear }
}
