import { jsonText } from '../base/json.ts'
import type { Token } from '../client/external-auth.ts'
import type { MasterConfig } from '../config/index.ts'
import { isRecord } from '../wire/bytes.ts'

/**
 * What somebody who signed in may do, in the forms of `external_auth`, for programs that show it: as the master says, or as
 * this configuration does. An empty map, as Salt has it, if it is nothing.
 */
export function permissionsOf(token: Token, { external_auth }: MasterConfig): unknown {
  const { perms, auth_list } = token
  const said = Array.isArray(perms) ? perms : Array.isArray(auth_list) ? auth_list : undefined
  const all = sorted(said ?? entriesFor(token, external_auth[String(token.eauth)]))
  return all.length > 0 ? all : {}
}

/** Of the name, of everybody, and of the groups. */
function entriesFor({ name, groups }: Token, backend: unknown): unknown[] {
  if (!isRecord(backend)) return []
  const keys = [name, '*', ...(Array.isArray(groups) ? groups.map((group) => `${group}%`) : [])]
  return keys.flatMap((key) => {
    const entries = Object.hasOwn(backend, String(key)) ? backend[String(key)] : []
    return Array.isArray(entries) ? entries : []
  })
}

/** Texts first, each once. */
function sorted(entries: readonly unknown[]): unknown[] {
  const texts = entries.filter((entry) => typeof entry === 'string')
  const maps = new Map(entries.filter(isRecord).map((entry) => [jsonText(entry), entry]))
  return [
    ...[...new Set(texts)].sort(),
    ...[...maps].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, map]) => map),
  ]
}
