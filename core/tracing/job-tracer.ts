import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { spanIdOf, traceIdOf } from './ids.ts'
import { type JobSpan, nameOf, parentOf } from './job-span.ts'

/**
 * What a tracer of OpenTelemetry's SDK (1 and 2) has inside. Its ids are drawn, and no member of the API says otherwise; ours
 * is given a generator of its own, other tracers are left alone. A tracer without these makes spans of the same trace that
 * do not know their parents.
 */
interface Innards {
  _idGenerator?: { generateTraceId(): string; generateSpanId(): string }
  _sampler?: { shouldSample(...about: unknown[]): { readonly decision: number } }
}

interface Provider extends TracerProvider {
  /** Of the API's stand-in for whatever is registered. */
  getDelegate?(): Provider
  /** Of the SDK's. */
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

/** `RECORD_AND_SAMPLED` of a sampler's decisions. */
const SAMPLED = 2
/** A program that ends waits so long for its last spans to leave. Milliseconds. */
const FLUSH_MS = 1_000
const LONGEST = 200

/** Makes spans of jobs with the SDK that is registered in this process. */
export class JobTracer {
  readonly #provider: Provider
  readonly #tracer: Tracer
  readonly #sampler: Innards['_sampler']
  readonly #chooses: boolean
  /** The ids of the span that is made next. */
  #next = { traceId: '', spanId: '' }

  constructor(provider: Provider = trace.getTracerProvider()) {
    this.#provider = provider.getDelegate?.() ?? provider
    this.#tracer = this.#provider.getTracer('salt-ts')
    const innards = this.#tracer as unknown as Innards
    this.#sampler = innards._sampler
    this.#chooses = innards._idGenerator !== undefined
    if (this.#chooses)
      innards._idGenerator = {
        generateTraceId: () => this.#next.traceId,
        generateSpanId: () => this.#next.spanId,
      }
  }

  /** Something that is over now. */
  note(about: JobSpan): void {
    finish(this.#start(about, ROOT_CONTEXT), about)
  }

  /** Something under which others make spans of their own, such as the requests that a module sends. */
  async within<T>(about: JobSpan, work: () => Promise<T>, retcodeOf: (result: T) => unknown): Promise<T> {
    const span = this.#start(about, context.active())
    const result = await context.with(trace.setSpan(context.active(), span), work)
    finish(span, { ...about, retcode: retcodeOf(result) })
    return result
  }

  /** Resolves when what was made has left, or after a second. */
  async flush(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_MS)
    })
    await Promise.race([Promise.resolve(this.#provider.forceFlush?.()).catch(() => undefined), late])
    clearTimeout(timer)
  }

  #start(about: JobSpan, around: Context): Span {
    const traceId = traceIdOf(about.jid)
    this.#next = { traceId, spanId: spanIdOf(about.jid, nameOf(about)) }
    const parent = parentOf(about) ?? (this.#chooses ? undefined : 'client')
    const name = `${about.part === 'client' ? 'salt' : about.part} ${about.returner ?? shortened(about.fun)}`
    const options = {
      kind: kinds[about.part],
      startTime: about.start,
      attributes: attributesOf(about),
      links: linksOf(about),
    }
    if (parent === undefined) return this.#tracer.startSpan(name, { ...options, root: true }, around)
    const spanContext = {
      traceId,
      spanId: spanIdOf(about.jid, parent),
      traceFlags: this.#isSampled(traceId, name) ? TraceFlags.SAMPLED : TraceFlags.NONE,
      isRemote: true,
    }
    return this.#tracer.startSpan(name, options, trace.setSpanContext(around, spanContext))
  }

  /** As the first span of the trace was decided about where it was made: by the id, which is all that is known here. */
  #isSampled(traceId: string, name: string): boolean {
    const { CLIENT } = SpanKind
    const result = this.#sampler?.shouldSample(ROOT_CONTEXT, traceId, name, CLIENT, {}, [])
    return result === undefined || result.decision === SAMPLED
  }
}

/** A span that somebody else has begun around the call of a client, as one of an HTTP request. */
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

/** Of several functions the first code that is not 0. */
function worstOf(retcode: unknown): number | undefined {
  if (typeof retcode === 'number') return retcode
  if (typeof retcode !== 'object' || retcode === null) return undefined
  const codes = Object.values(retcode).map(worstOf)
  return codes.find((code) => code) ?? codes[0]
}

/** What a minion calls the function of its return may be anything. */
function shortened(fun: unknown): string {
  const names = [fun].flat()
  return names.every((name) => typeof name === 'string') ? names.join(',').slice(0, LONGEST) : 'other'
}
