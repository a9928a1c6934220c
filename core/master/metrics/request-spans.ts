import { isRecord } from '../../base/record.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import type { JobTracer } from '../../tracing/index.ts'

/** Wrap the `publish` handler to record a span per job; return the handlers unchanged without a tracer. */
export function withPublishSpans(
  handlers: ReadonlyMap<string, ClearHandler>,
  tracer: JobTracer | undefined,
): ReadonlyMap<string, ClearHandler> {
  const publish = handlers.get('publish')
  if (!tracer || !publish) return handlers
  const traced: ClearHandler = async (load, via) => {
    const start = Date.now()
    const reply = await publish(load, via)
    const job = isRecord(reply) && isRecord(reply.load) ? reply.load : {}
    const { jid, minions } = job
    if (typeof jid === 'string' && Array.isArray(minions))
      tracer.note({ part: 'publish', jid, fun: load.fun, start, minions: minions.length })
    return reply
  }
  return new Map([...handlers, ['publish', traced]])
}
