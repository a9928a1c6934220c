import { fnmatch } from '../dialect/fnmatch.ts'
import type { KeyPolicy } from './policy.ts'

/**
 * Whether this id belongs to a client of the API instead of a minion (`api_clients`, shell patterns). An API client
 * has a key like a minion, but may publish on behalf of its users and read events.
 */
export const isApiClient = (id: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => fnmatch(id, pattern))

/** Return a policy under which only a person accepts keys, whatever options accept minions. */
export const manualAcceptanceOnly = (policy: KeyPolicy): KeyPolicy => ({
  ...policy,
  openMode: false,
  full: async () => false,
  autoSign: async () => false,
  join: async () => undefined,
})
