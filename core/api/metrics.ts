import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import { SaltError } from '../base/errors.ts'
import type { Meter } from '../metrics/index.ts'

export interface ApiMetricsSettings {
  /** Rejects if a client with this token may not read the metrics. */
  authorize(token: string | undefined): Promise<unknown>
  /** Count the connected readers of events, and those dropped since the server started. */
  readers?(): { readonly readers: number; readonly dropped: number }
  /** Configuration of the route, for the hooks of the server. */
  readonly route?: FastifyContextConfig
}

/** Label of this process in its metrics. */
const PROCESS = 'api'

/** Add `GET /metrics`. Requests are counted from this call on. */
export async function addMetricsRoute(
  app: FastifyInstance,
  { authorize, readers, route = {} }: ApiMetricsSettings,
): Promise<void> {
  const { openMeter, setBuildInfo } = await import('../metrics/process-metrics.ts')
  const { contentTypes, formatMetrics, formatFor } = await import('../metrics/exposition.ts')
  const meter = openMeter(PROCESS)
  setBuildInfo(meter, 'salt-api')
  countRequests(app, meter)
  meter.read(() => {
    const now = readers?.()
    if (!now) return []
    return [
      ['salt_api_readers', now.readers, []],
      ['salt_api_readers_dropped', now.dropped, []],
    ]
  })
  meter.read(() => [['salt_process_up', 1, [PROCESS]]])
  app.get('/metrics', { config: route }, async (request, reply) => {
    await authorize(collectorToken(request))
    const format = formatFor(request.headers.accept)
    const text = formatMetrics(await meter.snapshot(), format)
    return reply.header('content-type', contentTypes[format]).send(text)
  })
}

/** Count requests and their duration until the answer is closed, so that streams count while they are open. */
function countRequests(app: FastifyInstance, meter: Meter): void {
  let open = 0
  app.addHook('onRequest', (request, reply, done) => {
    const start = performance.now()
    open++
    reply.raw.once('close', () => {
      open--
      const { method, routeOptions } = request
      const labels = [method, routeOptions.url ?? 'none', String(reply.raw.statusCode)] as const
      meter.observe('salt_api_request_duration_seconds', (performance.now() - start) / 1000, labels)
    })
    done()
  })
  app.addHook('onError', (_request, _reply, error, done) => {
    const { limit } = SaltError.is(error) ? error.data : {}
    if (typeof limit === 'string') meter.count('salt_api_limits_hit', [limit])
    done()
  })
  meter.read(() => [['salt_api_requests_open', open, []]])
}

/** Return the token of a metrics collector (`Authorization: Bearer`) or of a Salt client (`X-Auth-Token`). */
export function collectorToken({ headers }: FastifyRequest): string | undefined {
  const { authorization = '', 'x-auth-token': token } = headers
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? (typeof token === 'string' ? token : undefined)
}
