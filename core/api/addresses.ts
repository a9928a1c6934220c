/**
 * Checks of client addresses: `authorized_ips` for every request, `api_acl` for log-in. Rules hold addresses or
 * networks.
 */

import { isInNetwork, parseAddress, parseNetwork } from '../base/net/ip-network.ts'
import { isRecord } from '../base/record.ts'
import { denial } from './denials.ts'
import type { ApiSettings } from './settings.ts'

type Rules = Pick<ApiSettings, 'authorized_ips' | 'api_acl'>

/**
 * Refuse a request from an address that `authorized_ips` does not list. An empty list allows every address.
 * @throws SaltError AUTHORIZATION_FAILED
 */
export function checkAddress(ip: string, { authorized_ips }: Rules): void {
  if (authorized_ips.length === 0 || isAmong(ip, authorized_ips)) return
  const rule = { rule: 'authorized_ips' }
  throw denial('AUTHORIZATION_FAILED', 'Bad IP', rule, rule)
}

/**
 * Whether `api_acl` lets this user log in from this address. Without rules everybody may log in from anywhere; with
 * rules, only the users they list (`*` stands for the others).
 */
export function mayLogIn(username: unknown, ip: string, { api_acl }: Rules): boolean {
  const { users } = api_acl
  if (!isRecord(users) || Object.keys(users).length === 0) return true
  const name = typeof username === 'string' && Object.hasOwn(users, username) ? username : '*'
  const places = Object.hasOwn(users, name) ? [users[name]].flat() : []
  return places.includes('*') || isAmong(ip, places)
}

function isAmong(ip: string, places: readonly unknown[]): boolean {
  const address = parseAddress(ip.replace(/^::ffff:(?=\d+\.)/i, ''))
  return address !== undefined && places.some((place) => isInNetwork(address, networkOf(String(place))))
}

/** Parse a rule; one that cannot be parsed matches no address. */
function networkOf(place: string) {
  try {
    return parseNetwork(place)
  } catch {
    return { version: 4 as const, hostBits: 0n, prefix: -1n }
  }
}
