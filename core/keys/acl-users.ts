import type { MasterConfig } from '../config/index.ts'
import { matchesName, mayMatch } from '../dialect/name-pattern.ts'
import { findUser, listUsers, membersOf } from './users.ts'

/** Characters of patterns that no name of a user has: a look-up would start two processes for nothing. */
const GLOB = /[*?[]/

export interface AclConfig {
  readonly publisher_acl: MasterConfig['publisher_acl']
  readonly publisher_acl_blacklist?: MasterConfig['publisher_acl_blacklist']
  readonly client_acl_verify?: boolean
}

/**
 * Find the users of this host that `publisher_acl` names, directly, by a pattern, or by a group (`ops%`), without
 * those on the blacklist.
 */
export async function aclUsers(config: AclConfig): Promise<string[]> {
  const { publisher_acl, client_acl_verify = true } = config
  const users = new Set<string>()
  const listed = client_acl_verify ? [...(await listUsers()).keys()] : []
  for (const pattern of Object.keys(publisher_acl)) {
    const members = pattern.endsWith('%') ? await membersOf(pattern.slice(0, -1)) : []
    const isUser = !GLOB.test(pattern) && (await findUser(pattern)) !== undefined
    const named = isUser ? [pattern] : listed.filter((each) => matchesName(pattern, each))
    for (const name of [...members, ...named]) users.add(name)
  }
  return [...users].filter((user) => !isBlacklisted(config, user))
}

/** Whether `publisher_acl_blacklist` revokes all rights of this user. */
function isBlacklisted({ publisher_acl_blacklist: blacklist = {} }: AclConfig, user: string): boolean {
  return [blacklist.users].flat().some((pattern) => typeof pattern === 'string' && mayMatch(pattern, user))
}
