import type { ApiRefusal } from '../../wire/api-refusal.ts'
import { readVia } from '../../wire/via.ts'
import type { AuditEntry } from './line.ts'

/** What a server of the API has refused by itself; `api`: the one on another host that says so. */
export function apiEntry({ act, user, leftOut, via, ...more }: ApiRefusal, api?: string): AuditEntry {
  return {
    ...{ act, verdict: 'refused', user, claimed: true, by: 'salt-api', ...more, via: readVia(via, api) },
    ...(leftOut && { left_out_before: leftOut }),
  }
}
