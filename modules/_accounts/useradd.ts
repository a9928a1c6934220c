import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'salt-ts'
import { runProgram } from '../_program/run.ts'
import { findGroup } from './groups.ts'
import { rootOption } from './root-option.ts'

export interface NewUser {
  readonly name: string
  readonly uid?: string | number
  readonly gid?: string | number
  readonly groups: readonly string[]
  readonly home?: string
  readonly shell?: string
  readonly unique: boolean
  readonly system: boolean
  readonly createhome: boolean
  readonly nologinit: boolean
  readonly root?: string
  readonly usergroup?: boolean
}

/** Add a user with useradd, and return whether that succeeded. Its supplementary groups are not set. */
export async function addUser(user: NewUser, context: Context): Promise<boolean> {
  const options = [
    ...rootOption(user.root),
    ...(user.shell ? ['-s', user.shell] : []),
    ...(isGiven(user.uid) ? ['-u', String(user.uid)] : []),
    ...(await primaryGroup(user, context)),
    user.createhome ? '-m' : '-M',
    ...(user.nologinit ? ['-l'] : []),
    ...(user.home === undefined ? [] : ['-d', user.home]),
    ...(user.unique ? [] : ['-o']),
    ...(user.system ? ['-r'] : []),
  ]
  return (await runProgram(['useradd', ...options, '--', user.name], context)).retcode === 0
}

const isGiven = (id: string | number | undefined): boolean => id !== undefined && id !== ''

// useradd fails where it would have to create a group that exists: such a group becomes the primary one if it is among
// the groups that were asked for.
async function primaryGroup(user: NewUser, context: Context): Promise<string[]> {
  const without = user.usergroup === false ? ['-N'] : []
  if (isGiven(user.gid)) return ['-g', String(user.gid), ...without]
  if (user.usergroup) return ['-U']
  if (!user.groups.includes(user.name) || !(await hasUserGroups(user.root))) return without
  const group = await findGroup(user.name, user.root, context)
  return group ? ['-g', String(group.gid), ...without] : without
}

/** Whether useradd gives each user a group of its own. */
async function hasUserGroups(root = '/'): Promise<boolean> {
  const text = await readFile(join(root, 'etc/login.defs'), 'utf8').catch(() => '')
  return /^\s*USERGROUPS_ENAB\s+yes\b/m.test(text)
}
