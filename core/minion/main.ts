import { setTimeout as delay } from 'node:timers/promises'
import { deferred } from '../base/deferred.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import type { MinionConfig } from '../config/index.ts'
import type { Logger } from '../log/index.ts'
import { getNetworkTransport } from '../transport/index.ts'
import { Minion } from './minion.ts'

/** Codes a minion ends with: 77 and 42 are Salt's (wire protocol §6.4), 69 is that of the programs. */
const exitCodes = new Map<string, number>([
  ['KEY_REJECTED', 77],
  ['FINGERPRINT_WRONG', 42],
  ['MASTER_UNREACHABLE', 69],
])

/** Run a minion until SIGTERM or SIGINT. Resolves with the exit code. */
export async function runMinion(config: MinionConfig, { log }: { log: Logger }): Promise<number> {
  const stopped = deferred<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve())
  try {
    await Promise.race([stopped.promise, delay(Math.random() * config.random_startup_delay * 1000)])
    const minion = await Minion.open(config, log, getNetworkTransport(config.transport))
    log.info(`salt-minion ${config.id} is starting`)
    const running = minion.run()
    running.catch(() => {})
    await Promise.race([stopped.promise, running])
    log.info('salt-minion is stopping')
    await minion.close()
    return 0
  } catch (error) {
    log.error(messageOf(error))
    return (SaltError.is(error) && exitCodes.get(error.code)) || 1
  }
}
