import { isApiClient, type KeyLists } from '../keys/index.ts'
import { tell } from './console.ts'

/** Whoever sees or accepts such a key must know that it is more than that of a minion. */
export function tellApiClients(lists: KeyLists, patterns: readonly string[]): void {
  const ids = [...new Set(Object.values(lists).flat())].filter((id) => isApiClient(id, patterns))
  if (ids.length === 0) return
  tell(
    `Not minions, but clients of the API (api_clients), which read every event of this master once accepted: ${ids.join(', ')}`,
  )
}
