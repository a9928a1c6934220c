import { isRecord } from '../../base/record.ts'
import type { ClearHandler } from '../../channel/request-server.ts'
import type { Meter } from '../../metrics/index.ts'

type Handler<A extends unknown[]> = (...args: A) => Promise<unknown>

/** Wrap handlers to measure their duration. Without a meter they are returned unchanged. */
export function withDurationMetrics<A extends unknown[]>(
  handlers: ReadonlyMap<string, Handler<A>>,
  meter: Meter | undefined,
  answered: (command: string, reply: unknown) => void = () => {},
): ReadonlyMap<string, Handler<A>> {
  if (!meter) return handlers
  const counted = ([command, handler]: [string, Handler<A>]): [string, Handler<A>] => [
    command,
    async (...args) => {
      const start = performance.now()
      try {
        const reply = await handler(...args)
        answered(command, reply)
        return reply
      } finally {
        const seconds = (performance.now() - start) / 1000
        meter.observe('salt_master_request_duration_seconds', seconds, [command])
      }
    },
  ]
  return new Map(Array.from(handlers, counted))
}

/** Wrap the handlers of clients to measure their duration and count refusals and log-ins. */
export function withClientMetrics(
  handlers: ReadonlyMap<string, ClearHandler>,
  meter: Meter | undefined,
): ReadonlyMap<string, ClearHandler> {
  return withDurationMetrics(handlers, meter, (command, reply) => {
    if (command === 'mk_token') meter?.count('salt_master_logins', [reply === '' ? 'refused' : 'granted'])
    const error = isRecord(reply) && isRecord(reply.error) ? reply.error : undefined
    if (error) meter?.count('salt_master_refusals', [command, String(error.name)])
  })
}
