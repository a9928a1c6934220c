import type { Context } from 'salt-ts'
import { findRow, readRows } from './database.ts'
import { findGroup, gidsOf, groupNames, readGroups } from './groups.ts'

/** A user, as in /etc/passwd. */
export interface User {
  readonly name: string
  readonly passwd: string
  readonly uid: number
  readonly gid: number
  readonly gecos: string
  readonly home: string
  readonly shell: string
}

/** The parts of the field gecos, in their order there. */
export const GECOS = ['fullname', 'roomnumber', 'workphone', 'homephone', 'other'] as const
export type GecosKey = (typeof GECOS)[number]
export type Gecos = Record<GecosKey, string>

/** What `user.info` returns. */
export type UserInfo = Omit<User, 'gecos'> & Gecos & { readonly groups: readonly string[] }

type Root = string | undefined

export async function readUsers(root: Root, { signal }: Pick<Context, 'signal'>): Promise<User[]> {
  return (await readRows('passwd', root, signal)).map(userOf)
}

export async function findUser(
  name: string,
  root: Root,
  { signal }: Pick<Context, 'signal'>,
): Promise<User | undefined> {
  const row = await findRow('passwd', name, root, signal)
  return row && userOf(row)
}

/** Return the sorted names of all groups of a user, with the primary one. */
export async function listGroups(name: string, root: Root, context: Context): Promise<string[]> {
  const user = await findUser(name, root, context)
  const groups = await readGroups(root, context)
  const gids = user && root === undefined ? await gidsOf(name, context) : []
  const names = groupNames(groups, name, user ? [user.gid, ...gids] : [])
  const unlisted = gids.filter((gid) => !groups.some((group) => group.gid === gid))
  const found = await Promise.all(unlisted.map((gid) => findGroup(gid, root, context)))
  return [...names, ...found.flatMap((group) => group?.name ?? [])].sort()
}

export async function describeUser(
  name: string,
  root: Root,
  context: Context,
): Promise<UserInfo | undefined> {
  const user = await findUser(name, root, context)
  return user && infoOf(user, await listGroups(name, root, context))
}

/** Describe all users. Groups are those that list their members. */
export async function describeUsers(root: Root, context: Context): Promise<UserInfo[]> {
  const groups = await readGroups(root, context)
  return (await readUsers(root, context)).map((user) =>
    infoOf(user, groupNames(groups, user.name, [user.gid])),
  )
}

export function parseGecos(field: string): Gecos {
  const [fullname = '', roomnumber = '', workphone = '', homephone = '', ...other] = field.split(',')
  return { fullname, roomnumber, workphone, homephone, other: other.join(',') }
}

export const gecosField = (gecos: Gecos): string =>
  GECOS.map((key) => gecos[key])
    .join(',')
    .replace(/,+$/, '')

const infoOf = ({ gecos, gid, home, name, passwd, shell, uid }: User, groups: string[]): UserInfo => ({
  gid,
  groups,
  home,
  name,
  passwd,
  shell,
  uid,
  ...parseGecos(gecos),
})

function userOf([name = '', passwd = '', uid, gid, gecos = '', home = '', shell = '']: string[]): User {
  return { name, passwd, uid: Number(uid), gid: Number(gid), gecos, home, shell }
}
