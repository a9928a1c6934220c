import type { Caller } from './contract.ts'

/**
 * Return the owner of a job, run or batch: `host:root`, `eauth:file:root`, `minion:web1`. A plain name is ambiguous: a user of the
 * host, one of a backend and a minion may share it.
 */
export function ownerOf({ name, by, eauth }: Pick<Caller, 'name' | 'by' | 'eauth'>): string {
  if (by === 'key') return `host:${name}`
  return by === 'minion' ? `minion:${name}` : `eauth:${eauth}:${name}`
}
