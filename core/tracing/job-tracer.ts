import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { endsWithin } from '../base/with-timeout.ts'
import { spanIdOf, traceIdOf } from './ids.ts'
import { type JobSpan, parentOf, spanName } from './job-span.ts'
import { type SpanIds, withIds } from './next-span.ts'

interface Provider extends TracerProvider {
  /** Present in the API's proxy for the registered provider. */
  getDelegate?(): Provider
  /** Present in the SDK's provider. */
  forceFlush?(): Promise<void>
}

const kinds: Readonly<Record<JobSpan['part'], SpanKind>> = {
  client: SpanKind.CLIENT,
  publish: SpanKind.SERVER,
  job: SpanKind.CONSUMER,
  run: SpanKind.INTERNAL,
  return: SpanKind.SERVER,
  write: SpanKind.CLIENT,
}

/** Ids of the span that shows whether the SDK takes ids. */
const PROBE = { traceId: '1'.repeat(32), spanId: '1'.repeat(16) }
/** Time that an ending program waits for its last spans to be exported. */
const FLUSH_MS = 1_000
const MAX_NAME_LENGTH = 200

/** Creates spans of jobs with the SDK that is registered in this process. */
export class JobTracer {
  readonly #provider: Provider
  readonly #tracer: Tracer
  /** Whether the SDK uses `JobIdGenerator`. Without it, spans of a job make one trace, but lack the right parents. */
  readonly #setsIds: boolean

  constructor(provider: Provider = trace.getTracerProvider()) {
    this.#provider = provider.getDelegate?.() ?? provider
    this.#tracer = this.#provider.getTracer('salt-ts')
    this.#setsIds = this.#probe(PROBE, 'probe').traceId === PROBE.traceId
  }

  /** Record a span that ends now. */
  note(about: JobSpan): void {
    finish(this.#start(about, ROOT_CONTEXT), about)
  }

  /** Run `work` within a span, which becomes the parent of spans of other libraries, such as requests that a module sends. */
  async within<T>(about: JobSpan, work: () => Promise<T>, retcodeOf: (result: T) => unknown): Promise<T> {
    const span = this.#start(about, context.active())
    const result = await context.with(trace.setSpan(context.active(), span), work)
    finish(span, { ...about, retcode: retcodeOf(result) })
    return result
  }

  /** Resolves when all spans are exported, or after a second. */
  async flush(): Promise<void> {
    const flushed = Promise.resolve(this.#provider.forceFlush?.()).catch(() => undefined)
    await endsWithin(flushed, FLUSH_MS)
  }

  #start(about: JobSpan, around: Context): Span {
    const ids = { traceId: traceIdOf(about.jid), spanId: spanIdOf(about.jid, spanName(about)) }
    const parent = parentOf(about) ?? (this.#setsIds ? undefined : 'client')
    const name = `${about.part === 'client' ? 'salt' : about.part} ${about.returner ?? shortened(about.fun)}`
    const options = {
      kind: kinds[about.part],
      startTime: about.start,
      attributes: attributesOf(about),
      links: linksOf(about),
    }
    const start = (more: SpanOptions, within: Context) =>
      withIds(ids, () => this.#tracer.startSpan(name, { ...options, ...more }, within))
    if (parent === undefined) return start({ root: true }, around)
    const spanContext = {
      traceId: ids.traceId,
      spanId: spanIdOf(about.jid, parent),
      traceFlags: this.#isSampled(ids, name) ? TraceFlags.SAMPLED : TraceFlags.NONE,
      isRemote: true,
    }
    return start({}, trace.setSpanContext(around, spanContext))
  }

  /**
   * Whether the root span of the trace is sampled. Repeats that decision by the trace id, which is all that this process has.
   */
  #isSampled(ids: SpanIds, name: string): boolean {
    return !this.#setsIds || (this.#probe(ids, name).traceFlags & TraceFlags.SAMPLED) !== 0
  }

  /** Start a root span that never ends, and so is never exported. */
  #probe(ids: SpanIds, name: string): SpanContext {
    const options = { kind: SpanKind.CLIENT, root: true }
    return withIds(ids, () => this.#tracer.startSpan(name, options, ROOT_CONTEXT)).spanContext()
  }
}

/** Link to a span of another library around the call of a client, such as one of an HTTP request. */
function linksOf({ part }: JobSpan): Link[] {
  const around = part === 'client' ? trace.getSpanContext(context.active()) : undefined
  return around && isSpanContextValid(around) ? [{ context: around }] : []
}

function attributesOf({ jid, fun, minion, returner, minions }: JobSpan): Attributes {
  return {
    'rpc.system': 'salt',
    'rpc.method': shortened(fun),
    'salt.jid': jid,
    'salt.fun': shortened(fun),
    ...(minion !== undefined && { 'salt.minion.id': minion }),
    ...(returner !== undefined && { 'salt.returner': returner }),
    ...(minions !== undefined && { 'salt.minions': minions }),
  }
}

function finish(span: Span, { retcode }: JobSpan): void {
  const code = worstOf(retcode)
  if (code !== undefined) span.setAttribute('salt.retcode', code)
  if (code) {
    span.setAttribute('error.type', String(code))
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

/** Return the exit code. For several functions, return the first one that is not 0. */
function worstOf(retcode: unknown): number | undefined {
  if (typeof retcode === 'number') return retcode
  if (typeof retcode !== 'object' || retcode === null) return undefined
  const codes = Object.values(retcode).map(worstOf)
  return codes.find((code) => code) ?? codes[0]
}

/** Format the function for a span. The return of a minion may contain anything in its place. */
function shortened(fun: unknown): string {
  const names = [fun].flat()
  return names.every((name) => typeof name === 'string') ? names.join(',').slice(0, MAX_NAME_LENGTH) : 'other'
}
