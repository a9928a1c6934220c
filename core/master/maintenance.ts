import { rm, stat } from 'node:fs/promises'
import type { Log } from '../author/context.ts'
import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'

export interface MaintenanceSettings {
  readonly clock: Clock
  readonly log: Log
  /** Seconds between two rounds (`loop_interval`). */
  readonly loopInterval: number
  /** Seconds an AES key lives (`publish_session`); 0: for ever. */
  readonly publishSession: number
  readonly rotationFlag: string
  /** `revoke`: a minion has lost access, so the key before must not open anything any more. */
  rotate(revoke: boolean): void
  /** Remove jobs older than `keep_jobs_seconds`, replay memory older than a session. */
  expire(): Promise<void>
}

/** How often a request for a new AES key is looked for; deleted minions should lose access at once. */
const FLAG_MS = 1000

/** The master's housekeeping: key rotation (wire protocol §9) and expiry of old jobs (§13.2). */
export function startMaintenance(settings: MaintenanceSettings): { close(): void } {
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

  const guarded = (work: () => Promise<void>) => () =>
    void work().catch((error: unknown) => log.error(`Maintenance failed: ${messageOf(error)}`))
  const timers = [
    setInterval(guarded(checkRotation), FLAG_MS),
    setInterval(guarded(settings.expire), settings.loopInterval * 1000),
  ]
  return { close: () => timers.forEach(clearInterval) }
}
