/**
 * Manage the groups of this host.
 *
 * With `root`, functions work on the files below another root folder, which has an operating system of its own: groups are
 * looked up only in its `etc/group`, and shadow's programs run in it.
 */
import { fn, p, type Virtual } from 'salt-ts'
import { findGroup, readGroups } from './_accounts/groups.ts'
import { rootOption } from './_accounts/root-option.ts'
import { namesOf } from './_accounts/usermod.ts'
import { runProgram } from './_program/run.ts'
import { textOnly } from './_values/text-only.ts'

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'The groupadd execution module cannot be loaded: only available on Linux'

const root = p.optional(p.string())
const name = p.string()

/**
 * Add a group. Returns false if groupadd refuses; its reason is in the log. `non_unique` allows a gid that is in use.
 *
 * @example salt '*' group.add foo 3456
 */
export const add = fn(
  {
    name,
    gid: p.optional(p.union(p.integer(), p.string())),
    system: p.default(p.boolean(), false),
    root,
    non_unique: p.default(p.boolean(), false),
  },
  async ({ name, gid, system, root, non_unique }, context) => {
    const hasGid = gid !== undefined && gid !== ''
    const options = [
      ...rootOption(root),
      ...(hasGid ? ['-g', String(gid)] : []),
      ...(hasGid && non_unique ? ['-o'] : []),
      ...(system ? ['-r'] : []),
    ]
    return (await runProgram(['groupadd', ...options, '--', name], context)).retcode === 0
  },
)

/**
 * Delete a group.
 *
 * @example salt '*' group.delete foo
 */
const remove = fn({ name, root }, async ({ name, root }, context) => {
  return (await runProgram(['groupdel', ...rootOption(root), '--', name], context)).retcode === 0
})

export { remove as delete }

/**
 * Return name, gid and members of a group. A group that does not exist has an empty map.
 *
 * @example salt '*' group.info foo
 */
export const info = fn(
  { name: textOnly(), root },
  async ({ name, root }, context) => (await findGroup(name, root, context)) ?? {},
)

/**
 * Return the information of all groups. `refresh` has no effect: it is always read.
 *
 * @example salt '*' group.getent
 */
export const getent = fn({ refresh: p.default(p.boolean(), false), root }, ({ root }, context) =>
  readGroups(root, context),
)

/**
 * Change the id of a group. `non_unique` allows one that is in use.
 *
 * @example salt '*' group.chgid foo 4376
 */
export const chgid = fn(
  { name, gid: p.integer(), root, non_unique: p.default(p.boolean(), false) },
  async ({ name, gid, root, non_unique }, context) => {
    const present = await findGroup(name, root, context)
    if (!present) return false
    if (present.gid === gid) return true
    const options = [...rootOption(root), ...(non_unique ? ['-o'] : []), '-g', String(gid)]
    await runProgram(['groupmod', ...options, '--', name], context)
    return (await findGroup(name, root, context))?.gid === gid
  },
)

/**
 * Add a user to a group.
 *
 * @example salt '*' group.adduser foo bar
 */
export const adduser = fn({ name, username: p.string(), root }, async ({ name, username, root }, context) => {
  const words = [...gpasswdRoot(root), '--add', username, '--', name]
  return (await runProgram(['gpasswd', ...words], context)).retcode === 0
})

/**
 * Remove a user from a group. Returns true also if it is no member, or the group does not exist.
 *
 * @example salt '*' group.deluser foo bar
 */
export const deluser = fn({ name, username: p.string(), root }, async ({ name, username, root }, context) => {
  const group = await findGroup(name, root, context)
  if (!group?.members.includes(username)) return true
  const words = [...gpasswdRoot(root), '--del', username, '--', name]
  return (await runProgram(['gpasswd', ...words], context)).retcode === 0
})

/**
 * Set the members of a group, instead of those it has. No members are `''`.
 *
 * @example salt '*' group.members foo 'user1,user2,user3'
 */
export const members = fn(
  { name, members_list: p.union(p.string(), p.array(p.string())), root },
  async ({ name, members_list, root }, context) => {
    const words = [...gpasswdRoot(root), '--members', namesOf(members_list).join(','), '--', name]
    return (await runProgram(['gpasswd', ...words], context)).retcode === 0
  },
)

const gpasswdRoot = (root: string | undefined): string[] => (root === undefined ? [] : ['--root', root])
