import { setTimeout as delay } from 'node:timers/promises'

/** Wait; not longer than until the signal. */
export const pause = (ms: number, over: AbortSignal): Promise<void> =>
  delay(Math.max(0, ms), undefined, { signal: over }).catch(() => {})
