import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface LocalUser {
  readonly uid: number
  readonly gid: number
}

/** Users of this host, by name; those a directory service adds are not listed, see `findUser`. */
export async function listUsers(): Promise<Map<string, LocalUser>> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')
  const accounts = lines.map((line) => line.split(':')).filter((fields) => fields.length >= 4)
  return new Map(accounts.map(([name = '', , uid, gid]) => [name, { uid: Number(uid), gid: Number(gid) }]))
}

/** A user of this host or of its directory service. */
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

/** Ids of the groups of this host, with the names of their members, primary ones included. */
export async function listGroups(): Promise<Map<number, ReadonlySet<string>>> {
  const lines = (await readFile('/etc/group', 'utf8').catch(() => '')).split('\n')
  const groups = new Map<number, Set<string>>()
  for (const [, , gid, members = ''] of lines.map((line) => line.split(':'))) {
    if (gid) groups.set(Number(gid), new Set(members.split(',').filter(Boolean)))
  }
  for (const [name, { gid }] of await listUsers()) groups.get(gid)?.add(name)
  return groups
}
