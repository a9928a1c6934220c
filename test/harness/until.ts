import { setTimeout as delay } from 'node:timers/promises'
import { vi } from 'vitest'

/**
 * How long a test waits for what must happen, milliseconds. It only bounds how long a failure takes: no machine that
 * runs the tests at all is so slow, and no test may pass because it is reached.
 */
const LONGEST_MS = 90_000

/** The pause between checks is as long as the last one took, within these limits: checks that run commands leave room for other tests. */
const MIN_PAUSE_MS = 20
const MAX_PAUSE_MS = 500

/** Try again until `check` gives something other than undefined or false; for states that no event tells about. */
export async function until<T>(
  what: string | (() => string),
  check: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  for (const end = Date.now() + LONGEST_MS; ; ) {
    const start = performance.now()
    const value = await check()
    if (value !== undefined && value !== false) return value
    if (Date.now() > end)
      throw new Error(`Waited ${LONGEST_MS} ms in vain for ${typeof what === 'string' ? what : what()}.`)
    await delay(Math.min(Math.max(performance.now() - start, MIN_PAUSE_MS), MAX_PAUSE_MS))
  }
}

/** Try again until these expectations hold. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: LONGEST_MS })
