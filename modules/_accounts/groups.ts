import type { Context } from 'salt-ts'
import { runProgram } from '../_program/run.ts'
import { findRow, readRows } from './database.ts'

/** A group, in the shape of `group.info`. */
export interface Group {
  readonly name: string
  readonly passwd: string
  readonly gid: number
  readonly members: readonly string[]
}

type Here = Pick<Context, 'signal'>

export async function readGroups(root: string | undefined, { signal }: Here): Promise<Group[]> {
  return (await readRows('group', root, signal)).map(groupOf)
}

/** Find a group by its name or gid. */
export async function findGroup(
  key: string | number,
  root: string | undefined,
  { signal }: Here,
): Promise<Group | undefined> {
  const row = await findRow('group', key, root, signal)
  return row && groupOf(row)
}

/** Return the sorted names of the groups that list a user as a member, and of those with one of `gids`. */
export function groupNames(groups: readonly Group[], user: string, gids: readonly number[]): string[] {
  const own = groups.filter(({ gid, members }) => gids.includes(gid) || members.includes(user))
  return [...new Set(own.map(({ name }) => name))].sort()
}

/** Return the ids of all groups of a user of this host, also those that only a directory knows. */
export async function gidsOf(user: string, context: Context): Promise<number[]> {
  const { retcode, stdout } = await runProgram(['id', '-G', '--', user], context, { ignoreRetcode: true })
  return retcode === 0 ? stdout.split(' ').map(Number) : []
}

const groupOf = ([name = '', passwd = '', gid, members = '']: string[]): Group => ({
  name,
  passwd,
  gid: Number(gid),
  members: members.split(',').filter(Boolean),
})
