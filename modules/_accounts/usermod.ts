import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { runProgram } from '../_program/run.ts'
import { findGroup } from './groups.ts'
import { type Root, rootOption } from './root-option.ts'
import { findUser, GECOS, type GecosKey, gecosField, listGroups, parseGecos, type User } from './users.ts'

/** Names of groups, which people also write as `wheel,audio`. */
export const namesOf = (names: string | readonly string[]): string[] =>
  [names].flat().flatMap((name) => name.split(',').filter(Boolean))

/** @throws CommandExecutionError if there is no such user */
async function existingUser(name: string, root: Root, context: Context): Promise<User> {
  const user = await findUser(name, root, context)
  if (user) return user
  throw new CommandExecutionError(`User '${name}' does not exist`)
}

/**
 * Set one field of a user with usermod and return whether it has the value then. `given` is what usermod gets, if it is not the
 * value itself: the name of a group.
 */
export async function changeUser<K extends 'name' | 'uid' | 'gid' | 'shell' | 'home'>(
  {
    name,
    key,
    value,
    options,
    root,
    given = String(value),
  }: { name: string; key: K; value: User[K] | undefined; options: string[]; root: Root; given?: string },
  context: Context,
): Promise<boolean> {
  if ((await existingUser(name, root, context))[key] === value) return true
  await runProgram(['usermod', ...rootOption(root), ...options, given, '--', name], context)
  const after = key === 'name' ? String(value) : name
  return (await findUser(after, root, context))?.[key] === value
}

/** Set one part of a user's gecos field. */
export async function changeGecos(
  name: string,
  key: GecosKey,
  value: string,
  root: Root,
  context: Context,
): Promise<boolean> {
  checkGecos(key, value)
  const gecos = parseGecos((await existingUser(name, root, context)).gecos)
  if (gecos[key] === value) return true
  const field = gecosField({ ...gecos, [key]: value })
  await runProgram(['usermod', ...rootOption(root), '-c', field, '--', name], context)
  const user = await findUser(name, root, context)
  return user !== undefined && parseGecos(user.gecos)[key] === value
}

// A comma ends all parts but the last, and a colon or a line break ends the field.
function checkGecos(key: GecosKey, value: string): void {
  const wrong = key === 'other' ? /[:\n]/ : /[:,\n]/
  const found = wrong.exec(value)?.[0]
  if (found === undefined) return
  throw new SaltInvocationError(
    `${key} must not contain ${JSON.stringify(found)}, which separates fields in /etc/passwd: ${JSON.stringify(value)}`,
  )
}

/** Check all parts of the gecos field before a user is added. */
export function checkAllGecos(parts: Readonly<Record<GecosKey, string>>): void {
  for (const key of GECOS) checkGecos(key, parts[key])
}

/** Set the groups of a user, or add it to them. */
export async function changeGroups(
  name: string,
  groups: readonly string[],
  { append, root }: { append: boolean; root: Root },
  context: Context,
): Promise<boolean> {
  const present = await listGroups(name, root, context)
  if (isSame(present, groups)) return true
  const options = append ? ['-a', '-G'] : ['-G']
  const { retcode, stderr } = await runProgram(
    ['usermod', ...rootOption(root), ...options, groups.join(','), '--', name],
    context,
  )
  if (retcode !== 0 && stderr.includes('not found in')) return addToLocalGroups(name, groups, context)
  return retcode === 0
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === new Set(others).size && some.every((one) => others.includes(one))

// usermod refuses users of a directory; gpasswd adds them to the groups of this host.
async function addToLocalGroups(name: string, groups: readonly string[], context: Context): Promise<boolean> {
  const codes: number[] = []
  for (const group of groups) codes.push((await runProgram(['gpasswd', '-a', name, group], context)).retcode)
  context.retcode = codes.find((code) => code !== 0) ?? 0
  return context.retcode === 0
}

/** Return the gid of a group that is given by its name or gid; undefined if no group has the name. */
export async function gidOf(
  group: string | number,
  root: Root,
  context: Context,
): Promise<number | undefined> {
  if (/^\d+$/.test(String(group))) return Number(group)
  return (await findGroup(String(group), root, context))?.gid
}
