import type { FastifyInstance } from 'fastify'
import { isTraced } from '../tracing/index.ts'

/**
 * A `traceparent` that comes with a request is around what is done for it: jobs have traces of their own, with a link to
 * that. Where the HTTP server is traced by somebody else, it is the span of the request already.
 */
export async function tracing(app: FastifyInstance): Promise<void> {
  if (!isTraced()) return
  const { context, propagation, trace } = await import('@opentelemetry/api')
  // Behind the reading of the body, which would not keep it.
  app.addHook('preHandler', (request, _reply, done) => {
    const around = context.active()
    if (trace.getSpanContext(around)) done()
    else context.with(propagation.extract(around, request.headers), done)
  })
}
