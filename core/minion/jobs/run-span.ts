import type { JobTracer } from '../../tracing/index.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { ReturnLoad } from '../../wire/return.ts'

/** Run a job within a span, if there is a tracer. Spans of modules become its children. */
export function traceRun(
  tracer: JobTracer | undefined,
  { jid, fun }: JobLoad,
  minion: string,
  run: () => Promise<ReturnLoad>,
): Promise<ReturnLoad> {
  if (!tracer) return run()
  return tracer.within({ part: 'run', jid, fun, minion, start: Date.now() }, run, ({ retcode }) => retcode)
}
