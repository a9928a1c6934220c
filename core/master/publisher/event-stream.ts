import type { Log } from '../../author/context.ts'
import { systemClock } from '../../base/clock.ts'
import { EventStreamServer } from '../../channel/event-stream-server.ts'
import type { MasterConfig } from '../../config/index.ts'
import { isApiClient, KeyStore, SessionKeys } from '../../keys/index.ts'
import { logDamageTo } from '../supervision/directories.ts'

/** Serve the events of this master to clients of the API on other hosts (`event_stream_port`). */
export async function openEventStream(
  config: MasterConfig,
  log: Log,
): Promise<Pick<EventStreamServer, 'publish' | 'close'>> {
  const keys = new KeyStore(config.pki_dir, config.api_clients)
  const sessions = SessionKeys.open(config.cachedir, {
    keys,
    lifetimeSeconds: config.publish_session,
    clock: systemClock,
    onDamage: logDamageTo(log),
  })
  const stream = await EventStreamServer.open({
    host: config.interface,
    port: config.event_stream_port,
    session: async (id) => (isApiClient(id, config.api_clients) ? sessions.current(id) : undefined),
    mayStay: (id, owner) => keys.accepted(id)?.equals(owner) === true,
    log,
  })
  return {
    publish: (tag, body) => stream.publish(tag, body),
    async close() {
      await stream.close()
      await sessions.close()
    },
  }
}
