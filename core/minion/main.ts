import { setTimeout as delay } from 'node:timers/promises'
import { deferred } from '../base/deferred.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { onHangup } from '../base/hangup.ts'
import type { MinionConfig } from '../config/index.ts'
import { type Loaded, logOptions, takeAgain } from '../config/reload.ts'
import type { DaemonLog } from '../log/index.ts'
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

interface Surroundings {
  readonly log: DaemonLog
  /** Reads the configuration again, at SIGHUP. */
  load(): Promise<Loaded<MinionConfig>>
  /**
   * Called when the minion runs, whatever its master says: one that is away, or has not accepted the key yet, is waited
   * for. With `random_startup_delay` that is before the delay.
   */
  started(): void
}

/** Run a minion until SIGTERM or SIGINT. Resolves with the exit code. */
export async function runMinion(config: MinionConfig, { log, started, load }: Surroundings): Promise<number> {
  const stopped = deferred<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve())
  let current = config
  const closeReloads = onHangup(async () => {
    log.reload(current)
    current = (await takeAgain(current, logOptions, { load, log }))?.config ?? current
    log.reload(current)
  })
  try {
    if (config.random_startup_delay > 0) {
      started()
      await Promise.race([stopped.promise, delay(Math.random() * config.random_startup_delay * 1000)])
    }
    const minion = await Minion.open(config, log, getNetworkTransport(config.transport))
    log.info(`salt-minion ${config.id} is starting`)
    const serving = minion.run()
    serving.catch(() => {})
    await Promise.race([
      stopped.promise,
      serving,
      minion.asked,
      delay(FIRST_ANSWER_MS, undefined, { ref: false }),
    ])
    if (config.random_startup_delay === 0) started()
    await Promise.race([stopped.promise, serving])
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
