import type { JobSpan } from './job-span.ts'
import type { JobTracer } from './job-tracer.ts'

export type { JobSpan } from './job-span.ts'
export type { JobTracer } from './job-tracer.ts'

/** Where version 1 of OpenTelemetry's API, whichever copy of it, keeps what is registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

/** Whether an SDK of OpenTelemetry is registered in this process. That is the only switch, and the API need not be loaded for it. */
export const isTraced = (): boolean =>
  (globalThis as { [REGISTERED]?: { readonly trace?: unknown } })[REGISTERED]?.trace !== undefined

let opening: Promise<JobTracer> | undefined

/** The tracer of this process; undefined, and nothing loaded, where no SDK is registered. */
export async function jobTracer(): Promise<JobTracer | undefined> {
  if (!isTraced()) return undefined
  opening ??= import('./job-tracer.ts').then(({ JobTracer }) => new JobTracer())
  return opening
}

/** The results of a job, and at their end a span from when it was to be published. */
export async function* tracedResults<T>(results: AsyncIterable<T>, about: JobSpan): AsyncGenerator<T> {
  try {
    yield* results
  } finally {
    ;(await jobTracer())?.note(about)
  }
}
