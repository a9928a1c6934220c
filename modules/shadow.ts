/**
 * Manage the passwords of the users of this host, and their aging.
 *
 * Days are counted from 1970-01-01; -1 is none. With `root`, functions work on the files below another root folder, which
 * has an operating system of its own.
 */
import { fn, p, type Virtual } from 'salt-ts'
import { hashPassword } from './_accounts/crypt.ts'
import { readRows } from './_accounts/database.ts'
import { findShadow, runPasswd, setAging, setPassword } from './_accounts/shadow.ts'
import { textOnly } from './_values/text-only.ts'

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'The shadow execution module cannot be loaded: only available on Linux'

const root = p.optional(p.string())
const name = p.string()
const day = p.union(p.integer(), p.string())

/**
 * Return what the password entry of a user without a password has.
 *
 * @example salt '*' shadow.default_hash
 */
export const default_hash = fn(() => '!')

/**
 * Return the password entry of a user: name, passwd (the hash), lstchg, min, max, warn, inact and expire. All are empty
 * texts for a user without one.
 *
 * @example salt '*' shadow.info root
 */
export const info = fn(
  { name: textOnly(), root },
  async ({ name, root }, context) =>
    (await findShadow(name, root, context)) ?? {
      name: '',
      passwd: '',
      lstchg: '',
      min: '',
      max: '',
      warn: '',
      inact: '',
      expire: '',
    },
)

/**
 * List the names of all users with a password entry.
 *
 * @example salt '*' shadow.list_users
 */
export const list_users = fn({ root }, async ({ root }, { signal }) =>
  (await readRows('shadow', root, signal)).map(([name = '']) => name).sort(),
)

/**
 * Hash a password for `shadow.set_password`. `algorithm` is sha512, sha256 or md5; the salt is random by default, and may
 * begin with a number of rounds: `rounds=10000$salt`.
 *
 * @example salt '*' shadow.gen_password 'I_am_password'
 * @example salt '*' shadow.gen_password 'I_am_password' crypt_salt='I_am_salt' algorithm=sha256
 */
export const gen_password = fn(
  {
    password: p.secret(textOnly()),
    crypt_salt: p.optional(p.string()),
    algorithm: p.default(p.string(), 'sha512'),
  },
  ({ password, crypt_salt, algorithm }, { signal }) => hashPassword(password, crypt_salt, algorithm, signal),
)

/**
 * Set the password of a user, given as a hash. `use_usermod` sets it with usermod, whose arguments all users of the host
 * can see while it runs.
 *
 * @example salt '*' shadow.set_password root '$1$UYCIxa628.9qXjpQCjM4a..'
 */
export const set_password = fn(
  {
    name,
    password: p.secret(p.string()),
    use_usermod: p.default(p.boolean(), false),
    root,
  },
  ({ name, password, use_usermod, root }, context) =>
    setPassword({ name, password, usermod: use_usermod, root }, context),
)

/**
 * Remove the password of a user, who then may log in without one.
 *
 * @example salt '*' shadow.del_password username
 */
export const del_password = fn({ name, root }, async ({ name, root }, context) => {
  return (await runPasswd('-d', name, root, context))?.passwd === ''
})

/**
 * Lock the password of a user, so that it no longer opens the account.
 *
 * @example salt '*' shadow.lock_password username
 */
export const lock_password = fn({ name, root }, async ({ name, root }, context) => {
  const present = await findShadow(name, root, context)
  if (!present || isLocked(present.passwd)) return present !== undefined
  return isLocked((await runPasswd('-l', name, root, context))?.passwd)
})

/**
 * Unlock the password of a user.
 *
 * @example salt '*' shadow.unlock_password username
 */
export const unlock_password = fn({ name, root }, async ({ name, root }, context) => {
  const present = await findShadow(name, root, context)
  if (!present || !isLocked(present.passwd)) return present !== undefined
  return !isLocked((await runPasswd('-u', name, root, context))?.passwd)
})

const isLocked = (passwd = ''): boolean => passwd.startsWith('!')

/**
 * Set the date of the last change of the password, as a number of days or as YYYY-MM-DD. With 0 it must be changed at the
 * next log-in.
 *
 * @example salt '*' shadow.set_date username 0
 */
export const set_date = fn({ name, date: day, root }, ({ name, date, root }, context) =>
  setAging({ name, key: 'lstchg', value: date, option: '-d', root }, context),
)

/**
 * Set the date on which the account expires, as a number of days or as YYYY-MM-DD; -1 is never.
 *
 * @example salt '*' shadow.set_expire username -1
 */
export const set_expire = fn({ name, expire: day, root }, ({ name, expire, root }, context) =>
  setAging({ name, key: 'expire', value: expire, option: '-E', root }, context),
)

/**
 * Set after how many days with an expired password the account is locked.
 *
 * @example salt '*' shadow.set_inactdays username 7
 */
export const set_inactdays = fn(
  { name, inactdays: p.integer(), root },
  ({ name, inactdays, root }, context) =>
    setAging({ name, key: 'inact', value: inactdays, option: '-I', root }, context),
)

/**
 * Set for how many days a password is valid.
 *
 * @example salt '*' shadow.set_maxdays username 90
 */
export const set_maxdays = fn({ name, maxdays: p.integer(), root }, ({ name, maxdays, root }, context) =>
  setAging({ name, key: 'max', value: maxdays, option: '-M', root }, context),
)

/**
 * Set how many days have to pass before a password may be changed again.
 *
 * @example salt '*' shadow.set_mindays username 7
 */
export const set_mindays = fn({ name, mindays: p.integer(), root }, ({ name, mindays, root }, context) =>
  setAging({ name, key: 'min', value: mindays, option: '-m', root }, context),
)

/**
 * Set how many days before its password expires a user is warned.
 *
 * @example salt '*' shadow.set_warndays username 7
 */
export const set_warndays = fn({ name, warndays: p.integer(), root }, ({ name, warndays, root }, context) =>
  setAging({ name, key: 'warn', value: warndays, option: '-W', root }, context),
)
