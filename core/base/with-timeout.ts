import { deferred } from './deferred.ts'

/** The longest delay of `setTimeout`; a longer one ends at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** Settle like `work`, or reject with `late()` after `ms` milliseconds. The timer keeps the process alive. */
export function withTimeout<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  const over = deferred<never>()
  const timer = setTimeout(() => over.reject(late()), ms)
  return Promise.race([work, over.promise]).finally(() => clearTimeout(timer))
}

/**
 * Wait for `work`, at most `ms` milliseconds, and return whether it ended in time. Rejects if `work` does. The timer keeps
 * the process alive.
 */
export function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const over = deferred<boolean>()
  const timer = setTimeout(() => over.resolve(false), ms)
  return Promise.race([work.then(() => true), over.promise]).finally(() => clearTimeout(timer))
}
