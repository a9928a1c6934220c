/**
 * Manage the users of this host.
 *
 * With `root`, functions work on the files below another root folder, which has an operating system of its own: users are
 * looked up only in its `etc/passwd`, and shadow's programs run in it.
 */
import { CommandExecutionError, fn, p, type Virtual } from 'salt-ts'
import { rootOption } from './_accounts/root-option.ts'
import { addUser } from './_accounts/useradd.ts'
import { changeGecos, changeGroups, changeUser, checkAllGecos, gidOf, namesOf } from './_accounts/usermod.ts'
import { describeUser, describeUsers, findUser, GECOS, listGroups, readUsers } from './_accounts/users.ts'
import { runProgram } from './_program/run.ts'

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'useradd execution module not loaded: system is not Linux'

const root = p.optional(p.string())
const id = p.union(p.integer(), p.string())
const names = p.union(p.string(), p.array(p.string()))
const text = p.default(p.string(), '')

/**
 * Add a user. Returns false if useradd refuses; its reason is in the log.
 *
 * `gid` is the name or id of the primary group, `groups` lists further ones. `unique=False` allows an id that is in use.
 * `usergroup` is whether the user gets a group of its own; by default `/etc/login.defs` decides. `loginclass` has no effect
 * on Linux.
 *
 * @example salt '*' user.add name uid=1200 gid=100 groups=wheel,audio home=/srv/name shell=/bin/bash
 * @example salt '*' user.add fred fullname='Fred Flintstone' system=True createhome=False
 */
export const add = fn(
  {
    name: p.string(),
    uid: p.optional(id),
    gid: p.optional(id),
    groups: p.optional(names),
    home: p.optional(p.string()),
    shell: p.optional(p.string()),
    unique: p.default(p.boolean(), true),
    system: p.default(p.boolean(), false),
    fullname: text,
    roomnumber: text,
    workphone: text,
    homephone: text,
    other: text,
    createhome: p.default(p.boolean(), true),
    loginclass: p.optional(p.string()),
    nologinit: p.default(p.boolean(), false),
    root,
    usergroup: p.optional(p.boolean()),
  },
  async (given, context) => {
    checkAllGecos(given)
    const groups = namesOf(given.groups ?? [])
    if (!(await addUser({ ...given, groups }, context))) return false
    // The user is there: what fails from here on is for a later change, as in Salt.
    if (groups.length > 0) {
      await changeGroups(given.name, groups, { append: false, root: given.root }, context)
    }
    for (const key of GECOS) {
      if (given[key]) await changeGecos(given.name, key, given[key], given.root, context)
    }
    return true
  },
)

/**
 * Delete a user; with `remove` also its home folder and mail spool, with `force` also while it is logged in.
 *
 * @example salt '*' user.delete name remove=True force=True
 */
const remove = fn(
  { name: p.string(), remove: p.default(p.boolean(), false), force: p.default(p.boolean(), false), root },
  async ({ name, remove, force, root }, context) => {
    const options = [...rootOption(root), ...(remove ? ['-r'] : []), ...(force ? ['-f'] : [])]
    const { retcode, stderr } = await runProgram(['userdel', ...options, '--', name], context)
    // On Debian userdel reports a mail spool that never was; the user is deleted nevertheless.
    const mailOnly =
      retcode === 12 && context.grains.os_family === 'Debian' && /var\/(spool\/)?mail/.test(stderr)
    if (mailOnly) context.retcode = 0
    return retcode === 0 || mailOnly
  },
)

export { remove as delete }

/**
 * Return the information of all users, as a list of what `user.info` returns. `refresh` has no effect: it is always read.
 *
 * @example salt '*' user.getent
 */
export const getent = fn({ refresh: p.default(p.boolean(), false), root }, ({ root }, context) =>
  describeUsers(root, context),
)

/**
 * Return the information of a user: uid, gid, groups, home, shell and the parts of its gecos field. A user that does not
 * exist has an empty map.
 *
 * @example salt '*' user.info root
 */
export const info = fn(
  { name: p.string(), root },
  async ({ name, root }, context) => (await describeUser(name, root, context)) ?? {},
)

/**
 * List the names of all users.
 *
 * @example salt '*' user.list_users
 */
export const list_users = fn({ root }, async ({ root }, context) =>
  (await readUsers(root, context)).map(({ name }) => name).sort(),
)

/**
 * List the groups of a user, the primary one among them.
 *
 * @example salt '*' user.list_groups foo
 */
export const list_groups = fn({ name: p.string(), root }, ({ name, root }, context) =>
  listGroups(name, root, context),
)

/**
 * Return the name of the primary group of a user.
 *
 * @example salt '*' user.primary_group saltadmin
 */
export const primary_group = fn(
  { name: p.string() },
  async ({ name }, context) =>
    (await runProgram(['id', '-g', '-n', '--', name], context, { merged: true })).stdout,
)

/**
 * Change the user id.
 *
 * @example salt '*' user.chuid foo 4376
 */
export const chuid = fn({ name: p.string(), uid: p.integer(), root }, ({ name, uid, root }, context) =>
  changeUser({ name, key: 'uid', value: uid, options: ['-u'], root }, context),
)

/**
 * Change the primary group, given by its id or name.
 *
 * @example salt '*' user.chgid foo 4376
 */
export const chgid = fn({ name: p.string(), gid: id, root }, async ({ name, gid, root }, context) => {
  const value = await gidOf(gid, root, context)
  return changeUser({ name, key: 'gid', value, options: ['-g'], root, given: String(value ?? gid) }, context)
})

/**
 * Change the login shell.
 *
 * @example salt '*' user.chshell foo /bin/zsh
 */
export const chshell = fn({ name: p.string(), shell: p.string(), root }, ({ name, shell, root }, context) =>
  changeUser({ name, key: 'shell', value: shell, options: ['-s'], root }, context),
)

/**
 * Change the home folder; with `persist` the content of the present one is moved there.
 *
 * @example salt '*' user.chhome foo /home/users/foo True
 */
export const chhome = fn(
  { name: p.string(), home: p.string(), persist: p.default(p.boolean(), false), root },
  ({ name, home, persist, root }, context) => {
    const options = [...(persist ? ['-m'] : []), '-d']
    return changeUser({ name, key: 'home', value: home, options, root }, context)
  },
)

/**
 * Set the supplementary groups of a user; with `append` add it to them.
 *
 * @example salt '*' user.chgroups foo wheel,root
 * @example salt '*' user.chgroups foo wheel,root append=True
 */
export const chgroups = fn(
  { name: p.string(), groups: names, append: p.default(p.boolean(), false), root },
  ({ name, groups, append, root }, context) => changeGroups(name, namesOf(groups), { append, root }, context),
)

/**
 * Change the full name.
 *
 * @example salt '*' user.chfullname foo 'Foo Bar'
 */
export const chfullname = fn(
  { name: p.string(), fullname: p.string(), root },
  ({ name, fullname, root }, context) => changeGecos(name, 'fullname', fullname, root, context),
)

/**
 * Change the room number.
 *
 * @example salt '*' user.chroomnumber foo 123
 */
export const chroomnumber = fn(
  { name: p.string(), roomnumber: p.string(), root },
  ({ name, roomnumber, root }, context) => changeGecos(name, 'roomnumber', roomnumber, root, context),
)

/**
 * Change the work phone.
 *
 * @example salt '*' user.chworkphone foo 7735550123
 */
export const chworkphone = fn(
  { name: p.string(), workphone: p.string(), root },
  ({ name, workphone, root }, context) => changeGecos(name, 'workphone', workphone, root, context),
)

/**
 * Change the home phone.
 *
 * @example salt '*' user.chhomephone foo 7735551234
 */
export const chhomephone = fn(
  { name: p.string(), homephone: p.string(), root },
  ({ name, homephone, root }, context) => changeGecos(name, 'homephone', homephone, root, context),
)

/**
 * Change the other information of the gecos field.
 *
 * @example salt '*' user.chother foo bar
 */
export const chother = fn({ name: p.string(), other: p.string(), root }, ({ name, other, root }, context) =>
  changeGecos(name, 'other', other, root, context),
)

/**
 * Change the login name.
 *
 * @example salt '*' user.rename name new_name
 */
export const rename = fn(
  { name: p.string(), new_name: p.string(), root },
  async ({ name, new_name, root }, context) => {
    if (await findUser(new_name, root, context)) {
      throw new CommandExecutionError(`User '${new_name}' already exists`)
    }
    return changeUser({ name, key: 'name', value: new_name, options: ['-l'], root }, context)
  },
)

/**
 * Return the login class of a user: false, since only BSD has them.
 *
 * @example salt '*' user.get_loginclass foo
 */
export const get_loginclass = fn({ name: p.string() }, () => false)

/**
 * Change the login class of a user: false, since only BSD has them.
 *
 * @example salt '*' user.chloginclass foo staff
 */
export const chloginclass = fn({ name: p.string(), loginclass: p.any(), root }, () => false)
