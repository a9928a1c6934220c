import { chmod, chown } from 'node:fs/promises'
import type { Log } from '../../author/context.ts'
import { currentUser } from '../../base/current-user.ts'
import type { MasterConfig } from '../../config/index.ts'
import { masterEventSockets } from '../../events/index.ts'
import { aclUsers } from '../../keys/acl-users.ts'
import { eventGroup } from '../../keys/event-group.ts'

/**
 * Return mode and group of the event socket: readable for the master's user, and with `publisher_acl` or `external_auth`
 * for a group. Events contain what jobs return, so users of `publisher_acl` only get access through a group that nobody
 * else is in.
 */
export async function eventSocketAccess(
  config: MasterConfig,
  log: Log,
): Promise<{ readonly mode: number; readonly group?: number }> {
  const { publisher_acl, external_auth } = config
  if (!Object.keys(publisher_acl).length && !Object.keys(external_auth).length) return { mode: 0o600 }
  const me = currentUser()
  const users = (await aclUsers(config)).filter((user) => user !== 'root' && user !== me)
  if (!users.length) return { mode: 0o660 }
  const group = await eventGroup(users, { gid: process.getgid?.() ?? 0, user: me })
  if (group !== undefined) return { mode: 0o660, group }
  log.warn(
    `The users ${users.join(', ')} of publisher_acl cannot see what their jobs return: there is no group of exactly these ` +
      `users (and ${me}) that could read the event socket. Create one, and have root restart the master.`,
  )
  return { mode: 0o660 }
}

/** Apply mode and group to the existing socket. */
export async function applyEventSocketAccess(config: MasterConfig, log: Log): Promise<void> {
  if (config.ipc_mode !== 'ipc') return
  const { mode, group } = await eventSocketAccess(config, log)
  const { pubPath } = masterEventSockets(config)
  if (group !== undefined) await chown(pubPath, -1, group).catch(() => {})
  await chmod(pubPath, mode)
}
