import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface User {
  readonly name: string
  readonly uid: number
  readonly gid: number
  readonly home: string
  readonly shell: string
}
export interface Group {
  readonly name: string
  readonly gid: number
}

/** Find a user of this host by name, in any source of the name service. */
export async function findUser(name: string): Promise<User | undefined> {
  const [found, , uid, gid, , home = '/', shell] = (await entry('passwd', name)) ?? []
  if (found === undefined) return undefined
  return { name: found, uid: Number(uid), gid: Number(gid), home, shell: shell || '/bin/sh' }
}

/** Find a group of this host by name. */
export async function findGroup(name: string): Promise<Group | undefined> {
  const [found, , gid] = (await entry('group', name)) ?? []
  return found === undefined ? undefined : { name: found, gid: Number(gid) }
}

// The file comes first, since it nearly always suffices; getent finds entries of LDAP, SSSD and the like.
async function entry(database: 'passwd' | 'group', name: string): Promise<string[] | undefined> {
  if (!/^[^:\n\0/]+$/.test(name)) return undefined
  const local = await readFile(`/etc/${database}`, 'utf8').catch(() => '')
  return lineOf(local, name) ?? lineOf(await getent(database, name), name)
}

function lineOf(text: string, name: string): string[] | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name}:`))
  return line?.split(':')
}

async function getent(database: string, name: string): Promise<string> {
  try {
    return (await run('getent', [database, '--', name], { timeout: 5000 })).stdout
  } catch {
    return ''
  }
}
