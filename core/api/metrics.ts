import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import { SaltError } from '../base/errors.ts'
import type { Meter } from '../metrics/index.ts'

export interface ApiMetricsSettings {
  /** Rejects if somebody with that token may not see how the server does. */
  admit(token: string | undefined): Promise<unknown>
  /** Of those who read events now, and those who were dropped since the server started. */
  readers?(): { readonly readers: number; readonly dropped: number }
  /** What hooks of the server are to know of the route. */
  readonly route?: FastifyContextConfig
}

/** The name of this process in its metrics. */
const PROCESS = 'api'

/** `GET /metrics`: figures of this server. Requests are counted from when this is called. */
export async function metrics(
  app: FastifyInstance,
  { admit, readers, route = {} }: ApiMetricsSettings,
): Promise<void> {
  const { openMeter, tellBuild } = await import('../metrics/process-metrics.ts')
  const { contentTypes, expose, formatFor } = await import('../metrics/exposition.ts')
  const meter = openMeter(PROCESS)
  tellBuild(meter, 'salt-api')
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
    await admit(collectorToken(request))
    const format = formatFor(request.headers.accept)
    const text = expose(await meter.snapshot(), format)
    return reply.header('content-type', contentTypes[format]).send(text)
  })
}

/** Until the connection is done with the answer, so that streams count as long as they are read. */
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

/** As collectors send one, or as Salt's clients do. */
export function collectorToken({ headers }: FastifyRequest): string | undefined {
  const { authorization = '', 'x-auth-token': token } = headers
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? (typeof token === 'string' ? token : undefined)
}
