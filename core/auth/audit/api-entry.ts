import type { ApiRefusal } from '../../wire/api-refusal.ts'
import { readVia } from '../../wire/via.ts'
import type { AuditEntry } from './line.ts'

/** Return the entry for a refusal by an API server. `api` is the server on another host that reports it. */
export function apiEntry({ act, user, leftOut, via, ...more }: ApiRefusal, api?: string): AuditEntry {
  return {
    act,
    verdict: 'refused',
    user,
    claimed: true,
    by: 'salt-api',
    ...more,
    via: readVia(via, api),
    ...(leftOut && { left_out_before: leftOut }),
  }
}
