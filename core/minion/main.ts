import { deferred } from '../base/deferred.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import type { MinionConfig } from '../config/index.ts'
import type { Logger } from '../log/index.ts'
import { Minion } from './minion.ts'

/** A minion whose key was rejected ends with this code, as Salt's does (wire protocol §6.4). */
const EXIT_REJECTED = 77

/** Run a minion until SIGTERM or SIGINT. Resolves with the exit code. */
export async function runMinion(config: MinionConfig, { log }: { log: Logger }): Promise<number> {
  const stopped = deferred<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve())
  try {
    const minion = await Minion.open(config, log)
    log.info(`salt-minion ${config.id} is starting`)
    const running = minion.run()
    running.catch(() => {})
    await Promise.race([stopped.promise, running])
    log.info('salt-minion is stopping')
    await minion.close()
    return 0
  } catch (error) {
    log.error(messageOf(error))
    return SaltError.is(error) && error.code === 'KEY_REJECTED' ? EXIT_REJECTED : 1
  }
}
