import { isRecord } from '../base/record.ts'
import type { Token } from '../client/local/external-auth.ts'
import type { MasterConfig } from '../config/index.ts'
import { jsonText } from '../dialect/json.ts'

/**
 * Return the permissions of a user in the form of `external_auth`, for clients that show them: from the token, or
 * from this configuration. An empty map, as in Salt, if there are none.
 */
export function permissionsOf(token: Token, { external_auth }: MasterConfig): unknown {
  const { perms, auth_list } = token
  const granted = Array.isArray(perms) ? perms : Array.isArray(auth_list) ? auth_list : undefined
  const all = sorted(granted ?? entriesFor(token, external_auth[String(token.eauth)]))
  return all.length > 0 ? all : {}
}

/** Collect the entries for the user, for `*`, and for the groups of the user. */
function entriesFor({ name, groups }: Token, backend: unknown): unknown[] {
  if (!isRecord(backend)) return []
  const keys = [name, '*', ...(Array.isArray(groups) ? groups.map((group) => `${group}%`) : [])]
  return keys.flatMap((key) => {
    const entries = Object.hasOwn(backend, String(key)) ? backend[String(key)] : []
    return Array.isArray(entries) ? entries : []
  })
}

/** Sort texts first, then maps, without duplicates. */
function sorted(entries: readonly unknown[]): unknown[] {
  const texts = entries.filter((entry) => typeof entry === 'string')
  const maps = new Map(entries.filter(isRecord).map((entry) => [jsonText(entry), entry]))
  return [
    ...[...new Set(texts)].sort(),
    ...[...maps].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, map]) => map),
  ]
}
