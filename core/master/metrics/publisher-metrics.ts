import type { KeyStore } from '../../keys/key-store.ts'
import type { Meter, Reading } from '../../metrics/index.ts'
import type { PublishServer } from '../../transport/contract.ts'
import type { Presence } from '../publisher/presence.ts'

/** Register the metrics of the publisher: its subscribers, connected minions and keys. */
export function registerPublisherMetrics(
  meter: Meter,
  environment: { server: PublishServer; presence: Pick<Presence, 'size'>; keys: Pick<KeyStore, 'list'> },
): void {
  const { server, presence, keys } = environment
  meter.read(() => [
    ['salt_master_publications_dropped', server.dropped, []],
    ['salt_master_subscribers', server.subscribers, []],
    ['salt_master_minions_connected', presence.size, []],
  ])
  meter.read(async () =>
    Object.entries(await keys.list()).map(
      ([state, ids]): Reading => ['salt_master_keys', ids.length, [state]],
    ),
  )
}
