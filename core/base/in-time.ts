import { deferred } from './deferred.ts'

/** What the work gives; rejects with `late()` after `ms` milliseconds without it. The process stays alive meanwhile. */
export function inTime<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  const over = deferred<never>()
  const timer = setTimeout(() => over.reject(late()), ms)
  return Promise.race([work, over.promise]).finally(() => clearTimeout(timer))
}
