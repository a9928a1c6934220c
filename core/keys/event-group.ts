import { listGroups } from './users.ts'

/**
 * The group that lets these users, and nobody else, read the events of a master: that of the master if all of them are
 * in it, else one that has no other members. Undefined if there is none.
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
  const own = [...groups.keys()].filter(
    (gid) => holds(gid) && [...(groups.get(gid) ?? [])].every((name) => trusted.has(name)),
  )
  return own[0]
}
