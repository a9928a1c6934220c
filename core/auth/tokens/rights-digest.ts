import { createHash } from 'node:crypto'
import type { Rights } from '../access-rules.ts'

/** Changes when what the configuration gives somebody does. */
export function rightsDigest({ source, entries }: Pick<Rights, 'source' | 'entries'>): string {
  return createHash('sha256')
    .update(JSON.stringify([source, entries], inOrder))
    .digest('hex')
}

/** The order of names in a map says nothing. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
