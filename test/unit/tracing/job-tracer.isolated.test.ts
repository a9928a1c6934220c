import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { afterEach, expect, test } from 'vitest'
import { JobIdGenerator } from '../../../core/tracing/id-generator.ts'
import { spanIdOf } from '../../../core/tracing/ids.ts'
import { isTraced, jobTracer } from '../../../core/tracing/index.ts'
import { JobTracer } from '../../../core/tracing/job-tracer.ts'

const jid = '20261122112205123456'
const traceId = `000000000000${jid}`
const about = { jid, fun: 'test.ping', start: Date.now() - 1000 } as const

function traced(
  ratio = 1,
  sdk: { readonly idGenerator?: JobIdGenerator } = { idGenerator: new JobIdGenerator() },
) {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({
    ...sdk,
    sampler: new TraceIdRatioBasedSampler(ratio),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  return { exporter, provider, tracer: new JobTracer(provider) }
}

afterEach(() => trace.disable())

test('nothing is loaded until an SDK is registered; then it is found, whichever copy of the API registered it', async () => {
  expect(isTraced()).toBe(false)
  expect(await jobTracer()).toBeUndefined()
  trace.setGlobalTracerProvider(traced().provider)
  expect(isTraced()).toBe(true)
  expect(await jobTracer()).toBeInstanceOf(JobTracer)
})

test('spans have the ids that other processes expect, and the first one has no parent', () => {
  const { exporter, tracer } = traced()
  tracer.note({ ...about, part: 'client' })
  tracer.note({ ...about, part: 'publish' })
  tracer.note({ ...about, part: 'job', minion: 'web1', retcode: 0 })
  const [client, publish, job] = exporter.getFinishedSpans()
  for (const span of [client, publish, job]) expect(span?.spanContext().traceId).toBe(traceId)
  expect(client?.parentSpanContext).toBeUndefined()
  expect(client?.spanContext().spanId).toBe(spanIdOf(jid, 'client'))
  expect(publish?.parentSpanContext?.spanId).toBe(spanIdOf(jid, 'client'))
  expect(job?.parentSpanContext?.spanId).toBe(publish?.spanContext().spanId)
  expect(job?.kind).toBe(SpanKind.CONSUMER)
  expect(job?.startTime[0]).toBe(Math.floor(about.start / 1000))
})

test('other tracers generate their ids as before', () => {
  const { exporter, provider, tracer } = traced()
  tracer.note({ ...about, part: 'client' })
  provider.getTracer('another').startSpan('x').end()
  expect(exporter.getFinishedSpans()[1]?.spanContext().traceId).not.toBe(traceId)
})

test('a failure has its exit code, and no arguments and returns are recorded', () => {
  const { exporter, tracer } = traced()
  tracer.note({
    ...about,
    fun: ['test.ping', 'cmd.run'],
    part: 'job',
    minion: 'web1',
    retcode: { a: 0, b: 7 },
  })
  const [span] = exporter.getFinishedSpans()
  expect(span?.status.code).toBe(SpanStatusCode.ERROR)
  expect(span?.attributes).toEqual({
    'rpc.system': 'salt',
    'rpc.method': 'test.ping,cmd.run',
    'salt.jid': jid,
    'salt.fun': 'test.ping,cmd.run',
    'salt.minion.id': 'web1',
    'salt.retcode': 7,
    'error.type': '7',
  })
})

test('all parts of a job are sampled alike', () => {
  for (let n = 0; n < 60; n++) {
    const { exporter, tracer } = traced(0.05)
    const one = { ...about, jid: `202611221122${String(n).padStart(2, '0')}123456` }
    for (const part of ['client', 'publish', 'job', 'return'] as const)
      tracer.note({ ...one, part, minion: 'web1' })
    expect([0, 4]).toContain(exporter.getFinishedSpans().length)
  }
})

test('an SDK without the id generator still makes one trace', () => {
  const { exporter, tracer } = traced(1, {})
  for (const part of ['client', 'publish'] as const) tracer.note({ ...about, part })
  expect(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).toEqual([traceId, traceId])
})

test('an SDK that cannot send its spans does not block a program', async () => {
  const { provider } = traced()
  const stuck = Object.assign(Object.create(provider), { forceFlush: () => new Promise<void>(() => {}) })
  await new JobTracer(stuck).flush()
})

test('a return with an invalid function name is recorded', () => {
  const { exporter, tracer } = traced()
  const hostile: unknown[] = [{ toString: 1 }, Object.create(null), [['a'], {}], ['test.ping', 'test.echo']]
  for (const fun of hostile) tracer.note({ ...about, part: 'return', minion: 'web1', fun })
  const names = exporter.getFinishedSpans().map(({ name }) => name)
  expect(names).toEqual(['return other', 'return other', 'return other', 'return test.ping,test.echo'])
})
