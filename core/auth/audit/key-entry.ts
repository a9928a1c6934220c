import type { KeyAuditEntry, Operator } from '../../keys/index.ts'
import type { AuditEntry } from './line.ts'

/** Causes of key changes that a minion's own request triggers. The minion is unverified then: nobody has checked its key. */
const BY_UNVERIFIED = new Set(['sign-in', 'autoreject_file'])
const REFUSALS = new Set(['reject', 'denied'])

/** Return the audit log entry for a change of a key. `key` has the entry of the key audit log. */
export function keyEntry(entry: KeyAuditEntry, who: Operator): AuditEntry {
  const { by, reason, ...key } = entry
  const isOwn = BY_UNVERIFIED.has(by)
  return {
    act: 'key',
    verdict: isOwn && REFUSALS.has(entry.act) ? 'refused' : 'allowed',
    ...(isOwn ? { user: entry.id, claimed: true, from: entry.id } : who),
    by,
    key,
  }
}
