import type { JobSpan } from './job-span.ts'
import type { JobTracer } from './job-tracer.ts'

export type { JobSpan } from './job-span.ts'
export type { JobTracer } from './job-tracer.ts'

/** Global symbol under which version 1 of OpenTelemetry's API, in any copy, stores what is registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/** Whether an OpenTelemetry SDK is registered in this process. This alone enables tracing. Does not load the API. */
export const isTraced = (): boolean =>
  (globalThis as { [REGISTERED]?: { readonly trace?: unknown } })[REGISTERED]?.trace !== undefined

let opening: Promise<JobTracer> | undefined

/** Open the tracer of this process. Resolves with undefined, without loading the API, if no SDK is registered. */
export async function jobTracer(): Promise<JobTracer | undefined> {
  if (!isTraced()) return undefined
  opening ??= import('./job-tracer.ts').then(({ JobTracer }) => new JobTracer())
  return opening
}

/** Pass on the results of a job. At their end, record the span `about`, which begins at the request to publish. */
export async function* tracedResults<T>(results: AsyncIterable<T>, about: JobSpan): AsyncGenerator<T> {
  try {
    yield* results
  } finally {
    ;(await jobTracer())?.note(about)
  }
}
