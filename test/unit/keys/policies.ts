import type { KeyPolicy } from '../../../core/keys/index.ts'

/** A policy that does nothing by itself, but for what is given. */
export function policy(given: Partial<KeyPolicy> = {}): KeyPolicy {
  const no = async () => false
  const none = async () => undefined
  const idle = { full: no, autoReject: no, autoSign: async () => false as const, join: none }
  return { openMode: false, maxPending: 10_000, ...idle, ...given }
}
