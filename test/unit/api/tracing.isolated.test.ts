import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import Fastify from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { tracing } from '../../../core/api/tracing.ts'
import { JobIdGenerator } from '../../../core/tracing/id-generator.ts'
import { JobTracer } from '../../../core/tracing/job-tracer.ts'

const exporter = new InMemorySpanExporter()

function register(): void {
  const storage = new AsyncLocalStorage<Context>()
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (given, work, self, ...args) => storage.run(given, () => work.call(self as never, ...args)),
    bind: (_, target) => target,
    enable() {
      return this
    },
    disable() {
      return this
    },
  })
  propagation.setGlobalPropagator({
    inject() {},
    fields: () => ['traceparent'],
    extract(around, carrier, { get }) {
      const [, traceId = '', spanId = ''] =
        /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/.exec(String(get(carrier, 'traceparent'))) ?? []
      return traceId ? trace.setSpanContext(around, { traceId, spanId, traceFlags: 1 }) : around
    },
  })
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({
      idGenerator: new JobIdGenerator(),
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    }),
  )
}

afterEach(() => {
  for (const api of [trace, context, propagation]) api.disable()
})

test('a job of a request has a trace of its own, with a link to the trace the request belongs to', async () => {
  register()
  const tracer = new JobTracer()
  const app = Fastify()
  await tracing(app)
  const about = { part: 'client', fun: 'test.ping', start: Date.now() } as const
  app.post('/', async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    tracer.note({ ...about, jid: (request.body as { jid: string }).jid })
    return {}
  })
  const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const post = (jid: string, headers: Record<string, string> = {}) =>
    app.inject({ method: 'POST', url: '/', payload: { jid }, headers })
  await Promise.all([
    post('20261122112205123456', { traceparent: `00-${traceId}-${spanId}-01` }),
    post('20261122112205123457'),
    post('20261122112205123458', { traceparent: 'nonsense' }),
  ])
  const links = exporter
    .getFinishedSpans()
    .map((span) => [span.spanContext().traceId.slice(-1), span.links.map((link) => link.context)])
  expect(links.sort()).toEqual([
    ['6', [expect.objectContaining({ traceId, spanId })]],
    ['7', []],
    ['8', []],
  ])
  expect(exporter.getFinishedSpans().every(({ parentSpanContext }) => parentSpanContext === undefined)).toBe(
    true,
  )
})
