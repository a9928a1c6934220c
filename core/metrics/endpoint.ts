import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import type { MetricsConfig } from './enabled.ts'
import { type MetricsServer, type MetricsServerSettings, serveMetrics } from './server.ts'

/** Time between attempts to open a port that is in use, perhaps by the previous daemon. */
const RETRY_MS = 5_000

/** Serve the metrics of a daemon. Failures are only logged, since the daemon does not depend on it. */
export function openEndpoint(
  config: MetricsConfig,
  log: Log,
  gather: MetricsServerSettings['gather'],
): { close(): Promise<void> } {
  const closing = new AbortController()
  let retry: NodeJS.Timeout | undefined
  let lastError: string | undefined
  let opening: Promise<MetricsServer | undefined>
  const open = () => {
    opening = serveMetrics({ host: config.metrics_interface, port: config.metrics_port, gather, log }).then(
      (server) => {
        log.info(`Metrics are at http://${config.metrics_interface}:${server.port}/metrics`)
        return server
      },
      (error: unknown) => {
        if (lastError !== messageOf(error)) log.error(messageOf(error))
        lastError = messageOf(error)
        if (!closing.signal.aborted) retry = setTimeout(open, RETRY_MS)
        return undefined
      },
    )
  }
  open()
  return {
    async close() {
      closing.abort()
      clearTimeout(retry)
      await (await opening)?.close()
    },
  }
}
