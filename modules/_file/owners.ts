import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { findGroup, findUser } from '../_cmd/users.ts'

const run = promisify(execFile)

/** Return the name of a user id; the id itself if no user has it. */
export const userName = (uid: number): Promise<string | number> => nameOf('passwd', uid)

/** Return the name of a group id; the id itself if no group has it. */
export const groupName = (gid: number): Promise<string | number> => nameOf('group', gid)

export interface OwnerNames {
  user(uid: number): Promise<string | number>
  group(gid: number): Promise<string | number>
}

/** Return `userName` and `groupName` that look each id up once, for a walk through many files. */
export const ownerNames = (): OwnerNames => ({ user: onceEach(userName), group: onceEach(groupName) })

function onceEach<T>(find: (id: number) => Promise<T>): (id: number) => Promise<T> {
  const known = new Map<number, Promise<T>>()
  return (id) => {
    const found = known.get(id) ?? find(id)
    known.set(id, found)
    return found
  }
}

async function nameOf(database: 'passwd' | 'group', id: number): Promise<string | number> {
  const local = await readFile(`/etc/${database}`, 'utf8').catch(() => '')
  return nameIn(local, id) ?? nameIn(await getent(database, id), id) ?? id
}

function nameIn(text: string, id: number): string | undefined {
  const fields = text.split('\n').map((line) => line.split(':'))
  return fields.find(([, , number]) => number === String(id))?.[0]
}

async function getent(database: string, id: number): Promise<string> {
  try {
    return (await run('getent', [database, String(id)], { timeout: 5000 })).stdout
  } catch {
    return ''
  }
}

/** A user or group, by name or number; null is the user of this process, or no group. */
export type Owner = string | number | null | undefined

/** Return the id of a user; undefined if there is none of that name. */
export async function userId(user: Owner): Promise<number | undefined> {
  if (user === null || user === undefined) return process.getuid?.()
  return typeof user === 'number' ? user : (await findUser(user))?.uid
}

/** Return the id of a group; undefined if there is none of that name. */
export async function groupId(group: Owner): Promise<number | undefined> {
  if (group === null || group === undefined) return undefined
  return typeof group === 'number' ? group : (await findGroup(group))?.gid
}

/** The ids for `chown`, -1 for what stays; with sentences about names that do not exist. */
export async function ownerIds(user: Owner, group: Owner) {
  const uid = user === '' ? -1 : await userId(user)
  const gid = group === '' || group === null || group === undefined ? -1 : await groupId(group)
  const unknown =
    (uid === undefined ? 'User does not exist\n' : '') + (gid === undefined ? 'Group does not exist\n' : '')
  return { uid: uid ?? -1, gid: gid ?? -1, unknown }
}
