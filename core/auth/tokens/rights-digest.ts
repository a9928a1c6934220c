import { createHash } from 'node:crypto'
import type { Rights } from '../access-rules.ts'

/** Return a digest that changes when the rights in the configuration change. */
export function rightsDigest({ source, entries }: Pick<Rights, 'source' | 'entries'>): string {
  return createHash('sha256')
    .update(JSON.stringify([source, entries], inOrder))
    .digest('hex')
}

/** Sort the names in a map, whose order is irrelevant. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
