import type { KeyAuditEntry, Operator } from '../../keys/index.ts'
import type { AuditEntry } from './line.ts'

/** By what a minion's own request moves its key, whoever it is: nobody has looked at the key yet. */
const BY_STRANGERS = new Set(['sign-in', 'autoreject_file'])
const REFUSALS = new Set(['reject', 'denied'])

/** A change of a key, as the audit log has it: `key` is what the audit log of keys has. */
export function keyEntry(entry: KeyAuditEntry, who: Operator): AuditEntry {
  const { by, reason, ...key } = entry
  const isOwn = BY_STRANGERS.has(by)
  return {
    act: 'key',
    verdict: isOwn && REFUSALS.has(entry.act) ? 'refused' : 'allowed',
    ...(isOwn ? { user: entry.id, claimed: true, from: entry.id } : who),
    by,
    key,
  }
}
