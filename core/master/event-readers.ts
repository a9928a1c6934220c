import { chmod, chown } from 'node:fs/promises'
import type { Log } from '../author/context.ts'
import { currentUser } from '../base/current-user.ts'
import type { MasterConfig } from '../config/index.ts'
import { masterEventSockets } from '../events/index.ts'
import { aclUsers } from '../keys/acl-users.ts'
import { eventGroup } from '../keys/event-group.ts'

/**
 * Who may read the events of this master: its own user, and with `publisher_acl` or `external_auth` a group. Events hold
 * what jobs return, so the users of `publisher_acl` get at them only by a group that nobody else is in.
 */
export async function eventReaders(
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
    `The users ${users.join(', ')} of publisher_acl cannot see what their jobs return: there is no group with them and ` +
      `nobody else in it (but ${me}), which may read the event socket. Make one, and have root start the master again.`,
  )
  return { mode: 0o660 }
}

/** The same for a socket that is there already. */
export async function admitReaders(config: MasterConfig, log: Log): Promise<void> {
  if (config.ipc_mode !== 'ipc') return
  const { mode, group } = await eventReaders(config, log)
  const { pubPath } = masterEventSockets(config)
  if (group !== undefined) await chown(pubPath, -1, group).catch(() => {})
  await chmod(pubPath, mode)
}
