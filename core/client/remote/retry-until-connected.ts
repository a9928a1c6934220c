import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import { backoff } from '../../base/backoff.ts'
import { messageOf, SaltError } from '../../base/errors.ts'

export interface Retrying {
  /** Delays between attempts. */
  readonly retry: { readonly minMs: number; readonly maxMs: number }
  readonly log: Log
  readonly signal: AbortSignal
}

/** Whether retrying is useless: the master's key is not the known one. */
const isFinal = (error: unknown): boolean =>
  SaltError.is(error) && (error.code === 'FINGERPRINT_WRONG' || error.code === 'MASTER_KEY_CHANGED')

/**
 * Retry until an attempt on a master on another host succeeds; logs each new reason of failure once. Rejects if the
 * master's key is not the known one, and when `signal` is aborted.
 */
export async function retryUntilConnected<T>(
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
      if (message !== said) log.warn(`${message} Retrying.`)
      said = message
      await delay(delays.next(), undefined, { signal })
    }
  }
}
