import { fnmatch } from '../base/fnmatch.ts'
import type { KeyPolicy } from './policy.ts'

/**
 * Whether somebody of this id is a client of the API instead of a minion (`api_clients`, shell patterns): with a key as
 * minions have one, but it may have the master do what its users may, and read the events.
 */
export const isApiClient = (id: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => fnmatch(id, pattern))

/** Its key is accepted by a person, whatever minions are accepted by. */
export const byPersonOnly = (policy: KeyPolicy): KeyPolicy => ({
  ...policy,
  openMode: false,
  full: async () => false,
  autoSign: async () => false,
  join: async () => undefined,
})
