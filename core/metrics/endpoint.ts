import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { type MetricsServer, type MetricsServerSettings, serveMetrics } from './server.ts'
import type { MetricsConfig } from './wanted.ts'

/** A port that somebody else has is tried again so often: it may be the daemon before this one. Milliseconds. */
const AGAIN_MS = 5_000

/** Serve the metrics of a daemon. That it cannot be is logged: what the daemon is there for does not depend on it. */
export function openEndpoint(
  config: MetricsConfig,
  log: Log,
  gather: MetricsServerSettings['gather'],
): { close(): Promise<void> } {
  const closing = new AbortController()
  let again: NodeJS.Timeout | undefined
  let told: string | undefined
  let opening: Promise<MetricsServer | undefined>
  const open = () => {
    opening = serveMetrics({ host: config.metrics_interface, port: config.metrics_port, gather, log }).then(
      (server) => {
        log.info(`Metrics are at http://${config.metrics_interface}:${server.port}/metrics`)
        return server
      },
      (error: unknown) => {
        if (told !== messageOf(error)) log.error(messageOf(error))
        told = messageOf(error)
        if (!closing.signal.aborted) again = setTimeout(open, AGAIN_MS)
        return undefined
      },
    )
  }
  open()
  return {
    async close() {
      closing.abort()
      clearTimeout(again)
      await (await opening)?.close()
    },
  }
}
