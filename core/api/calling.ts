import type { FastifyReply } from 'fastify'
import { SaltError } from '../base/errors.ts'
import type { ApiRoom } from './room.ts'

/** @throws SaltError CANCELLED if the client has left: nothing would tell that again. */
export function checkPresence({ raw }: FastifyReply): void {
  if (raw.destroyed) throw new SaltError('CANCELLED', 'The client has left.')
}

/**
 * Do what is waited for. The signal is aborted when nobody waits any more: the HTTP client has left, or the server stops.
 * What was begun goes on: only the wait ends.
 */
export async function whileWaited<T>(
  { stopping }: ApiRoom,
  { raw }: FastifyReply,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const waiting = new AbortController()
  const left = () => {
    if (!raw.writableFinished) waiting.abort(new SaltError('CANCELLED', 'The client has left.'))
  }
  const stop = () =>
    waiting.abort(new SaltError('CANCELLED', 'salt-api is stopping. What was started goes on without it.'))
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

/** The signal, aborted with the error after so many seconds, too. `over` ends that. */
export function inTime(
  signal: AbortSignal,
  seconds: number,
  late: () => SaltError,
): { readonly signal: AbortSignal; over(): void } {
  const both = new AbortController()
  const pass = () => both.abort(signal.reason)
  const timer = setTimeout(() => both.abort(late()), Math.min(seconds * 1000, 2 ** 31 - 1))
  signal.addEventListener('abort', pass, { once: true })
  if (signal.aborted) pass()
  const over = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', pass)
  }
  return { signal: both.signal, over }
}
