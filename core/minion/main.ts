import { setTimeout as delay } from 'node:timers/promises'
import { messageOf, SaltError } from '../base/errors.ts'
import { endsWithin } from '../base/with-timeout.ts'
import type { DaemonEnvironment } from '../config/daemon-environment.ts'
import { type MinionConfig, networkTransportsOf } from '../config/index.ts'
import { applyReload, minionReloads } from '../config/reload.ts'
import { onHangup } from '../process/hangup.ts'
import { stopRequested } from '../process/stop-signals.ts'
import { type Minion, openMinion } from './minion.ts'

/**
 * Exit codes by error: 77 and 42 are Salt's (wire protocol §6.4), 69 is the one that all programs use
 * (`core/cli/exit-codes.ts`).
 */
const exitCodes = new Map<string, number>([
  ['KEY_REJECTED', 77],
  ['FINGERPRINT_WRONG', 42],
  ['MASTER_UNREACHABLE', 69],
])

/** Time that a starting minion waits for its master before `-d` reports it as started. */
const FIRST_ANSWER_MS = 10_000

/**
 * Run a minion until SIGTERM or SIGINT. Resolves with the exit code. The minion is reported as started even if its master is
 * unreachable or has not accepted the key yet; it keeps trying. With `random_startup_delay` it is reported before the delay.
 */
export async function runMinion(
  config: MinionConfig,
  { log, started, load }: DaemonEnvironment<MinionConfig>,
): Promise<number> {
  const stopped = stopRequested()
  let current = config
  let minion: Minion | undefined
  const closeReloads = onHangup(async () => {
    log.reload(current)
    const reloaded = await applyReload(current, minionReloads, { load, log })
    current = reloaded?.config ?? current
    log.reload(current)
    if (reloaded) await minion?.reload(current, reloaded.changed)
  })
  try {
    if (config.random_startup_delay > 0) {
      started()
      if (await endsWithin(stopped, Math.random() * config.random_startup_delay * 1000)) return 0
    }
    minion = await openMinion(config, log, networkTransportsOf(config, log), load)
    log.info(`salt-minion ${config.id} is starting`)
    const serving = minion.run()
    serving.catch(() => {})
    await Promise.race([
      stopped,
      serving,
      minion.firstAttempts,
      delay(FIRST_ANSWER_MS, undefined, { ref: false }),
    ])
    if (config.random_startup_delay === 0) started()
    await Promise.race([stopped, serving])
    log.info('salt-minion is stopping')
    return 0
  } catch (error) {
    const code = SaltError.is(error) ? exitCodes.get(error.code) : undefined
    if (code === undefined) throw error
    log.error(messageOf(error))
    return code
  } finally {
    closeReloads()
    await minion?.close()
  }
}
