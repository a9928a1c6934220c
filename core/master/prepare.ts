import type { MasterConfig } from '../config/index.ts'
import { aclUsers } from '../keys/acl-users.ts'
import { giveEventGroup } from '../keys/event-group.ts'
import { giveRootKeys } from '../keys/index.ts'

/**
 * What root does for a master before that becomes the user of the configuration: users of `publisher_acl` get keys, and read
 * the events.
 */
export async function prepareMaster(
  config: MasterConfig,
  account: { readonly uid: number; readonly gid: number },
): Promise<void> {
  if (Object.keys(config.publisher_acl).length === 0) return
  await giveRootKeys(config, account.gid)
  const users = (await aclUsers(config)).filter((user) => user !== 'root' && user !== config.user)
  await giveEventGroup(config.sock_dir, users, { ...account, user: config.user })
}
