/**
 * Checks of client addresses: `authorized_ips` for every request, `api_acl` wherever a user logs in. Rules hold addresses or
 * networks.
 */

import { accountOf } from '../auth/index.ts'
import { isInNetwork, parseAddress, parseNetwork } from '../base/net/ip-network.ts'
import { isRecord } from '../base/record.ts'
import { type Denied, denial } from './denials.ts'
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

/** The answer to wrong credentials at /login, and wherever `api_acl` refuses some. */
export const REFUSED = 'Could not authenticate using provided credentials'

/**
 * Refuse credentials from an address from where `api_acl` does not let their user log in. `denied` goes to the audit log.
 * @throws SaltError AUTHENTICATION_FAILED
 */
export function checkLogIn(username: unknown, ip: string, settings: Rules, denied: Denied): void {
  if (mayLogIn(username, ip, settings)) return
  const reason = 'api_acl does not let this user sign in from there.'
  throw denial('AUTHENTICATION_FAILED', REFUSED, { ...denied, rule: 'api_acl', reason })
}

/**
 * Without rules everybody may log in from anywhere; with rules, only the users they list (`*` stands for the others). Who is not named,
 * as with `oidc`, may be any of them.
 */
function mayLogIn(username: unknown, ip: string, { api_acl }: Rules): boolean {
  const { users } = api_acl
  if (!isRecord(users) || Object.keys(users).length === 0) return true
  const isNamed = typeof username === 'string' && username !== ''
  const rules = isNamed ? [users[nameIn(users, username) ?? '*']] : [users['*'], ...Object.values(users)]
  return rules.every((rule = []) => {
    const places = [rule].flat()
    return places.includes('*') || isAmong(ip, places)
  })
}

/** Return the name of a user in the rules. Backends may accept several spellings of one name. */
function nameIn(users: object, username: string): string | undefined {
  if (Object.hasOwn(users, username)) return username
  return Object.keys(users).find((name) => accountOf(name) === accountOf(username))
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
