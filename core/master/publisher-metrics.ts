import type { KeyStore } from '../keys/key-store.ts'
import type { Meter, Reading } from '../metrics/index.ts'
import type { PublishServer } from '../transport/contract.ts'
import type { Presence } from './presence.ts'

/** What the publisher knows of those it publishes to. */
export function readPublisher(
  meter: Meter,
  around: { server: PublishServer; presence: Pick<Presence, 'size'>; keys: Pick<KeyStore, 'list'> },
): void {
  const { server, presence, keys } = around
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
