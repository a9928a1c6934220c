import { couldMean, namedBy } from '../base/name-pattern.ts'
import type { MasterConfig } from '../config/index.ts'
import { findUser, listUsers, membersOf } from './users.ts'

export interface AclConfig {
  readonly publisher_acl: MasterConfig['publisher_acl']
  readonly publisher_acl_blacklist?: MasterConfig['publisher_acl_blacklist']
  readonly client_acl_verify?: boolean
}

/**
 * The users of this host that `publisher_acl` names, or means with a pattern, or by their group (`ops%`), less those of the
 * blacklist.
 */
export async function aclUsers(config: AclConfig): Promise<string[]> {
  const { publisher_acl, client_acl_verify = true } = config
  const users = new Set<string>()
  const listed = client_acl_verify ? [...(await listUsers()).keys()] : []
  for (const pattern of Object.keys(publisher_acl)) {
    const members = pattern.endsWith('%') ? await membersOf(pattern.slice(0, -1)) : []
    const named = (await findUser(pattern)) ? [pattern] : listed.filter((each) => namedBy(pattern, each))
    for (const name of [...members, ...named]) users.add(name)
  }
  return [...users].filter((user) => !isBlacklisted(config, user))
}

/** Whether `publisher_acl_blacklist` takes all rights from this user. */
function isBlacklisted({ publisher_acl_blacklist: blacklist = {} }: AclConfig, user: string): boolean {
  return [blacklist.users].flat().some((pattern) => typeof pattern === 'string' && couldMean(pattern, user))
}
