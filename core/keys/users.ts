import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface LocalUser {
  readonly uid: number
  readonly gid: number
}

/** List the users of this host by name. Users that only a directory service has are left out; see `findUser`. */
export async function listUsers(): Promise<Map<string, LocalUser>> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')
  const accounts = lines.map((line) => line.split(':')).filter((fields) => fields.length >= 4)
  return new Map(accounts.map(([name = '', , uid, gid]) => [name, { uid: Number(uid), gid: Number(gid) }]))
}

/** Find a user of this host or of its directory service. */
export async function findUser(name: string): Promise<LocalUser | undefined> {
  const known = (await listUsers()).get(name)
  if (known) return known
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, '--', name])))
    return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) }
  } catch {
    return undefined
  }
}

/** Read the groups of this host with the names of their members, primary members included. */
async function groups(): Promise<
  { readonly name: string; readonly gid: number; readonly members: Set<string> }[]
> {
  const lines = (await readFile('/etc/group', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(':'))
  const users = await listUsers()
  return lines.flatMap(([name, , gid, members = '']) => {
    if (!name || !gid) return []
    const primary = [...users].filter(([, user]) => user.gid === Number(gid)).map(([user]) => user)
    return [{ name, gid: Number(gid), members: new Set([...members.split(',').filter(Boolean), ...primary]) }]
  })
}

/** Return the members of each group of this host, by group id. */
export async function listGroups(): Promise<Map<number, ReadonlySet<string>>> {
  return new Map((await groups()).map(({ gid, members }) => [gid, members]))
}

/** Return the names of a group's members. Members that only a directory service has are left out. */
export async function membersOf(group: string): Promise<string[]> {
  return (await groups()).filter(({ name }) => name === group).flatMap(({ members }) => [...members])
}

/** Return the names of the groups of a user of this host or of its directory service. */
export async function groupsOf(user: string): Promise<string[]> {
  if ((await listUsers()).has(user))
    return (await groups()).filter(({ members }) => members.has(user)).map(({ name }) => name)
  try {
    return (await run('id', ['-Gn', '--', user])).stdout.split(/\s+/).filter(Boolean)
  } catch {
    return []
  }
}
