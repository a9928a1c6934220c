import { type EmbeddedTokens, readTokenRecord } from '../../auth/index.ts'
import type { Replicated } from './replica.ts'

const DIGEST = /^[0-9a-f]{64}$/

/** Tokens of users, by their digest. A token that was revoked on one master is revoked on all. */
export function replicatedTokens(tokens: EmbeddedTokens): Replicated {
  let known: ReadonlySet<string> = new Set()
  let changes = -1
  return {
    name: 'token',
    async changed(all) {
      if (tokens.changes() === changes && !all) return []
      changes = tokens.changes()
      const [before, now] = [known, new Set(tokens.digests())]
      known = now
      if (all) return [...now]
      const [made, removed] = [
        [...now].filter((id) => !before.has(id)),
        [...before].filter((id) => !now.has(id)),
      ]
      return [...made, ...removed]
    },
    read: (digest) => tokens.get(digest),
    async write(digest, value) {
      if (!DIGEST.test(digest)) return undefined
      const record = readTokenRecord(value)
      if (record) await tokens.put(digest, record)
      else await tokens.remove(digest)
      return record
    },
    merge: (here, elsewhere) => (here === undefined ? undefined : elsewhere),
    overAt(value) {
      const record = readTokenRecord(value)
      return record && record.expire * 1000
    },
  }
}
