import type { FastifyInstance } from 'fastify'
import { importModule } from '../process/import-module.ts'
import { isTraced } from '../tracing/index.ts'

/**
 * Make the `traceparent` of a request the context of its handler. Jobs have traces of their own, with a link to that
 * span. If the HTTP server is instrumented already, its span stays.
 */
export async function tracing(app: FastifyInstance): Promise<void> {
  if (!isTraced()) return
  const api = await importModule('@opentelemetry/api')
  const { context, propagation, trace } = api as typeof import('@opentelemetry/api')
  // Runs after body parsing, which would lose the context.
  app.addHook('preHandler', (request, _reply, done) => {
    const around = context.active()
    if (trace.getSpanContext(around)) done()
    else context.with(propagation.extract(around, request.headers), done)
  })
}
