import type { Context } from 'salt-ts'
import {
  allPrivileges,
  isAll,
  membersOf,
  onObject,
  ownerOf,
  privilegesIn,
  privilegesOn,
  type Target,
} from './objects.ts'
import { execute, type Where } from './psql.ts'
import { ident } from './quote.ts'

export interface Asked {
  readonly role: string
  readonly target: Target
  /** Words with commas. */
  readonly privileges: string | undefined
  /** Whether the role may also grant them, or add members to a group. */
  readonly grantable: boolean
}

/** Whether a role has privileges on an object, or owns it, or is a member of a group. */
export async function isGranted(asked: Asked, where: Where, context: Context): Promise<boolean> {
  const { role, target, grantable } = asked
  const wanted = privilegesIn(asked.privileges, target)
  if (target.type === 'group') {
    const members = await membersOf(target.name, where, context)
    return Object.hasOwn(members, role) && (members[role] === true || !grantable)
  }
  if ((await ownerOf(target, where, context)) === role) return true
  const granted = await privilegesOn(target, where, context)
  const own = Object.hasOwn(granted, role) ? granted[role] : undefined
  const needed = wanted.includes('ALL') ? allPrivileges(target) : wanted
  return own !== undefined && needed.every((word) => word in own && (own[word] === true || !grantable))
}

/** Grant privileges. False if the role has them, or the server refuses. */
export async function grant(asked: Asked, where: Where, context: Context): Promise<boolean> {
  const { role, target, grantable } = asked
  const words = privilegesIn(asked.privileges, target)
  if (await isGranted(asked, where, context)) {
    context.log.info(`The object: ${target.name} of type: ${target.type} already has these privileges set`)
    return false
  }
  const sql =
    target.type === 'group'
      ? `GRANT ${ident(target.name)} TO ${ident(role)}${grantable ? ' WITH ADMIN OPTION' : ''}`
      : `GRANT ${words.join(',')} ON ${onObject(target)} TO ${grantee(role)}${grantable ? ' WITH GRANT OPTION' : ''}`
  return (await execute(sql, where, context)).retcode === 0
}

/** Revoke privileges. False if the role does not have them, or the server refuses. */
export async function revoke(asked: Asked, where: Where, context: Context): Promise<boolean> {
  const { role, target } = asked
  const words = privilegesIn(asked.privileges, target)
  if (!isAll(target) && !(await isGranted(asked, where, context))) {
    context.log.info(`The object: ${target.name} of type: ${target.type} does not have these privileges set`)
    return false
  }
  const sql =
    target.type === 'group'
      ? `REVOKE ${ident(target.name)} FROM ${ident(role)}`
      : `REVOKE ${words.join(',')} ON ${onObject(target)} FROM ${grantee(role)}`
  return (await execute(sql, where, context)).retcode === 0
}

/** `public` is a word of SQL, and no role can have that name. */
const grantee = (role: string): string => (role.toLowerCase() === 'public' ? 'PUBLIC' : ident(role))
