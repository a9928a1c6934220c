import { messageOf, SaltError } from '../base/errors.ts'
import type { DaemonEnvironment } from '../config/daemon-environment.ts'
import { networkTransportsOf } from '../config/index.ts'
import { onHangup } from '../process/hangup.ts'
import { stopRequested } from '../process/stop-signals.ts'
import type { SyndicConfig } from './settings.ts'
import { openSyndic } from './syndic.ts'

/** Exit codes by error, as those of a minion (wire protocol §6.4). */
const exitCodes = new Map<string, number>([
  ['KEY_REJECTED', 77],
  ['FINGERPRINT_WRONG', 42],
  ['MASTER_UNREACHABLE', 69],
])

/** Run a syndic until SIGTERM or SIGINT. Resolves with the exit code. It is started when the master of this host answers. */
export async function runSyndic(
  config: SyndicConfig,
  { log, started }: Pick<DaemonEnvironment<SyndicConfig>, 'log' | 'started'>,
): Promise<number> {
  const stopped = stopRequested()
  const stopping = new AbortController()
  void stopped.then(() => stopping.abort())
  const { id } = config.upward
  const transports = networkTransportsOf(config.upward, log)
  const closeReloads = onHangup(async () => log.reload(config.master))
  log.info(`salt-syndic ${id} is starting`)
  try {
    const syndic = await openSyndic(config, log, { transports, signal: stopping.signal })
    const serving = syndic.run()
    serving.catch(() => {})
    started()
    await Promise.race([stopped, serving])
    closeReloads()
    log.info('salt-syndic is stopping')
    await syndic.close()
    return 0
  } catch (error) {
    if (stopping.signal.aborted) return 0
    const code = SaltError.is(error) ? exitCodes.get(error.code) : undefined
    if (code === undefined) throw error
    log.error(messageOf(error))
    return code
  }
}
