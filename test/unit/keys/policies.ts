import type { KeyPolicy } from '../../../core/keys/index.ts'

/** A policy that does nothing by itself, but for what is given. */
export function policy(given: Partial<KeyPolicy> = {}): KeyPolicy {
  const no = async () => false
  return { openMode: false, maxPending: 10_000, full: no, autoReject: no, autoSign: no, ...given }
}
