import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { listGroups } from './users.ts'

/**
 * Give the socket folder to the group of the users who may read events, so that sockets made in it belong to that
 * group. Root does this for a master that will run as another user, which may not assign groups it is not in.
 */
export async function setEventGroup(
  folder: string,
  users: readonly string[],
  master: { readonly uid: number; readonly gid: number; readonly user: string },
): Promise<void> {
  const group = users.length > 0 ? await eventGroup(users, master) : undefined
  if (group === undefined || group === master.gid) return
  const found = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    await found.chown(master.uid, group)
    await found.chmod(0o2711)
  } finally {
    await found.close()
  }
}

/**
 * Find the group that lets these users, and nobody else, read the events of a master: the master's own group if all of
 * them are in it, else a group without other members. Undefined if there is none.
 */
export async function eventGroup(
  users: readonly string[],
  master: { readonly gid: number; readonly user: string },
  list: typeof listGroups = listGroups,
): Promise<number | undefined> {
  const groups = await list()
  const holds = (gid: number) => users.every((user) => groups.get(gid)?.has(user))
  if (holds(master.gid)) return master.gid
  const trusted = new Set([...users, master.user, 'root'])
  const matching = [...groups.keys()].filter(
    (gid) => holds(gid) && [...(groups.get(gid) ?? [])].every((name) => trusted.has(name)),
  )
  return matching[0]
}
