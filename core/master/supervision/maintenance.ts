import { rm, stat } from 'node:fs/promises'
import type { Log } from '../../author/context.ts'
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { repeat } from '../../base/repeat.ts'

export interface MaintenanceSettings {
  readonly clock: Clock
  readonly log: Log
  /** Seconds between two rounds of `expire` (`loop_interval`). */
  readonly loopInterval: number
  /** Lifetime of an AES key in seconds (`publish_session`); 0: unlimited. */
  readonly publishSession: number
  readonly rotationFlag: string
  /** Use a new AES key. `revoke`: a minion has lost access, so the old key must not be accepted any more. */
  rotate(revoke: boolean): void
  /** Remove jobs older than `keep_jobs_seconds` or beyond `keep_jobs_size`, replay memory older than a session. */
  expire(): Promise<void>
  /** Store and announce the ends of runners whose processes are gone. */
  endLostRuns(): Promise<void>
}

/** How often to look for a request for a new AES key: deleted minions should lose access at once. */
const FLAG_MS = 1000
/** How often to look for runners whose processes are gone. */
const RUNS_MS = 1000

/**
 * Start the master's maintenance: key rotation (wire protocol §9), expiry of old jobs (§13.2), ends of runners. `close`
 * resolves when the rounds under way are done.
 */
export function startMaintenance(settings: MaintenanceSettings): { close(): Promise<void> } {
  const { clock, log, publishSession, rotationFlag, rotate } = settings
  let rotatedAt = clock.now()

  async function checkRotation(): Promise<void> {
    const asked = await stat(rotationFlag).then(
      () => true,
      () => false,
    )
    const expired = publishSession > 0 && clock.now() - rotatedAt >= publishSession * 1000
    if (!asked && !expired) return
    await rm(rotationFlag, { force: true })
    rotatedAt = clock.now()
    log.info(
      `A new AES key is used: ${asked ? 'a minion key was deleted or rejected' : 'the old one was publish_session seconds old'}`,
    )
    rotate(asked)
  }

  const failed = (error: unknown) => log.error(`Maintenance failed: ${messageOf(error)}`)
  const rounds = [
    repeat(checkRotation, FLAG_MS, failed),
    repeat(settings.expire, settings.loopInterval * 1000, failed),
    repeat(settings.endLostRuns, RUNS_MS, failed),
  ]
  return {
    async close() {
      await Promise.all(rounds.map((round) => round.close()))
    },
  }
}
