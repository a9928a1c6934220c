import { setTimeout as delay } from 'node:timers/promises'
import { CommandExecutionError, type Log } from 'salt-ts'
import type { Outcome } from '../_program/run.ts'

/** How long to wait for a lock that another program holds. */
export interface LockWait {
  readonly limitMs: number
  readonly pollMs: number
}
export const LOCK_WAIT: LockWait = { limitMs: 300_000, pollMs: 2000 }

/**
 * Run a package manager, and again while its output says that another program holds its lock. Rejects when the wait is
 * over, or the job is cancelled.
 */
export async function waitingForLock(
  run: () => Promise<Outcome>,
  isLocked: (outcome: Outcome) => boolean,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
  { limitMs, pollMs }: LockWait = LOCK_WAIT,
): Promise<Outcome> {
  const deadline = performance.now() + limitMs
  for (let attempt = 1; ; attempt++) {
    const outcome = await run()
    if (outcome.retcode === 0 || !isLocked(outcome)) return outcome
    if (performance.now() >= deadline) throw stillLocked(outcome, limitMs)
    if (attempt === 1) log.warn('Another program holds the lock of the package manager: waiting for it')
    await delay(pollMs, undefined, { signal })
  }
}

const stillLocked = ({ stdout, stderr }: Outcome, limitMs: number) =>
  new CommandExecutionError(
    `Another program has held the lock of the package manager for ${limitMs / 1000} seconds; try again when it has ended. It said: ${(stderr || stdout).split('\n')[0]}`,
  )
