import { fnmatch } from '../base/fnmatch.ts'
import type { MasterConfig } from '../config/index.ts'
import { findUser, listUsers } from './users.ts'

export interface AclConfig {
  readonly publisher_acl: MasterConfig['publisher_acl']
  readonly publisher_acl_blacklist?: MasterConfig['publisher_acl_blacklist']
  readonly client_acl_verify?: boolean
}

/** The users of this host that `publisher_acl` names, or means with a pattern, less those of the blacklist. */
export async function aclUsers(config: AclConfig): Promise<string[]> {
  const { publisher_acl, client_acl_verify = true } = config
  const users = new Set<string>()
  const listed = client_acl_verify ? [...(await listUsers()).keys()] : []
  for (const pattern of Object.keys(publisher_acl)) {
    if (await findUser(pattern)) users.add(pattern)
    for (const name of listed.filter((each) => fnmatch(each, pattern))) users.add(name)
  }
  return [...users].filter((user) => !isBlacklisted(config, user))
}

/** Whether `publisher_acl_blacklist` takes all rights from this user. */
export function isBlacklisted(
  { publisher_acl_blacklist = {} }: Pick<AclConfig, 'publisher_acl_blacklist'>,
  user: string,
) {
  const patterns: unknown = publisher_acl_blacklist.users
  return (
    Array.isArray(patterns) &&
    patterns.some((pattern) => typeof pattern === 'string' && matchesWhole(pattern, user))
  )
}

/** Patterns of these options are regular expressions for the whole text; `test.*` is the common form. */
export function matchesWhole(pattern: string, text: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`).test(text)
  } catch {
    return false
  }
}
