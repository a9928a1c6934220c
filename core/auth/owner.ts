import type { Caller } from './contract.ts'

/**
 * Whose a job, run or batch is: `host:root`, `eauth:file:root`, `minion:web1`. Names alone do not tell: a user of the host, one of a
 * backend and a minion may share one.
 */
export function ownerOf({ name, by, eauth }: Pick<Caller, 'name' | 'by' | 'eauth'>): string {
  if (by === 'key') return `host:${name}`
  return by === 'minion' ? `minion:${name}` : `eauth:${eauth}:${name}`
}
