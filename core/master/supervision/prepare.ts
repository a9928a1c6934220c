import type { MasterConfig } from '../../config/index.ts'
import { aclUsers } from '../../keys/acl-users.ts'
import { setEventGroup } from '../../keys/event-group.ts'
import { writeRootKeysFor } from '../../keys/index.ts'

/**
 * Do what only root can, before the master switches to its configured user: create the keys of the users of
 * `publisher_acl`, and give their group access to the events.
 */
export async function prepareMaster(
  config: MasterConfig,
  account: { readonly uid: number; readonly gid: number },
): Promise<void> {
  if (Object.keys(config.publisher_acl).length === 0) return
  await writeRootKeysFor(config, account.gid)
  const users = (await aclUsers(config)).filter((user) => user !== 'root' && user !== config.user)
  await setEventGroup(config.sock_dir, users, { ...account, user: config.user })
}
