import { setTimeout as delay } from 'node:timers/promises'
import { messageOf, SaltError } from '../base/errors.ts'
import { onHangup } from '../base/hangup.ts'
import { stopRequested } from '../base/stop-signals.ts'
import type { Surroundings } from '../config/daemon.ts'
import type { MinionConfig } from '../config/index.ts'
import { minionReloads, takeAgain } from '../config/reload.ts'
import { getNetworkTransport } from '../transport/index.ts'
import { Minion } from './minion.ts'

/** Codes a minion ends with: 77 and 42 are Salt's (wire protocol §6.4), 69 is that of the programs. */
const exitCodes = new Map<string, number>([
  ['KEY_REJECTED', 77],
  ['FINGERPRINT_WRONG', 42],
  ['MASTER_UNREACHABLE', 69],
])

/** How long a starting minion waits for its master before `-d` reports it as started. Milliseconds. */
const FIRST_ANSWER_MS = 10_000

/**
 * Run a minion until SIGTERM or SIGINT. Resolves with the exit code. It counts as started whatever its master says: one that
 * is away, or has not accepted the key yet, is waited for. With `random_startup_delay` that is before the delay.
 */
export async function runMinion(
  config: MinionConfig,
  { log, started, load }: Surroundings<MinionConfig>,
): Promise<number> {
  const stopped = stopRequested()
  let current = config
  let minion: Minion | undefined
  const closeReloads = onHangup(async () => {
    log.reload(current)
    const taken = await takeAgain(current, minionReloads, { load, log })
    current = taken?.config ?? current
    log.reload(current)
    if (taken) await minion?.reload(current, taken.changed)
  })
  try {
    if (config.random_startup_delay > 0) {
      started()
      await Promise.race([stopped, delay(Math.random() * config.random_startup_delay * 1000)])
    }
    minion = await Minion.open(config, log, getNetworkTransport(config.transport), load)
    log.info(`salt-minion ${config.id} is starting`)
    const serving = minion.run()
    serving.catch(() => {})
    await Promise.race([stopped, serving, minion.asked, delay(FIRST_ANSWER_MS, undefined, { ref: false })])
    if (config.random_startup_delay === 0) started()
    await Promise.race([stopped, serving])
    closeReloads()
    log.info('salt-minion is stopping')
    await minion.close()
    return 0
  } catch (error) {
    const code = SaltError.is(error) ? exitCodes.get(error.code) : undefined
    if (code === undefined) throw error
    log.error(messageOf(error))
    return code
  }
}
