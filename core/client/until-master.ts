import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { backoff } from '../base/backoff.ts'
import { messageOf, SaltError } from '../base/errors.ts'

export interface Retrying {
  /** Between attempts, milliseconds. */
  readonly retry: { readonly minMs: number; readonly maxMs: number }
  readonly log: Log
  readonly signal: AbortSignal
}

/** What waiting does not mend: the master is not the one that is known. */
const isFinal = (error: unknown): boolean =>
  SaltError.is(error) && (error.code === 'FINGERPRINT_WRONG' || error.code === 'MASTER_KEY_CHANGED')

/**
 * Try again until a master on another host does what it is asked; each new reason why not is told once. Rejects if this is
 * not the master that is known, and when `signal` is aborted.
 */
export async function untilMaster<T>(
  attempt: () => Promise<T>,
  { retry, log, signal }: Retrying,
): Promise<T> {
  const delays = backoff(retry)
  for (let said = ''; ; ) {
    try {
      return await attempt()
    } catch (error) {
      if (signal.aborted || isFinal(error)) throw error
      const message = messageOf(error)
      if (message !== said) log.warn(`${message} It is tried again.`)
      said = message
      await delay(delays.next(), undefined, { signal })
    }
  }
}
