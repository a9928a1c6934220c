import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { type Context, SaltInvocationError } from 'salt-ts'
import { runProgram } from '../_program/run.ts'
import { findRow } from './database.ts'
import { rootOption } from './root-option.ts'
import { findUser } from './users.ts'

type Root = string | undefined

/** The password entry of a user, in the shape of `shadow.info`. Days are those since 1970-01-01; -1 is none. */
export interface ShadowEntry {
  readonly name: string
  readonly passwd: string
  readonly lstchg: number
  readonly min: number
  readonly max: number
  readonly warn: number
  readonly inact: number
  readonly expire: number
}
type DayKey = Exclude<keyof ShadowEntry, 'name' | 'passwd'>

export async function findShadow(
  name: string,
  root: Root,
  { signal }: Pick<Context, 'signal'>,
): Promise<ShadowEntry | undefined> {
  if (!(await hasShadow(root))) return undefined
  const row = await findRow('shadow', name, root, signal)
  return row && entryOf(row)
}

/** Some systems have no shadow file, such as those that keep passwords in tcb. */
const hasShadow = (root = '/'): Promise<boolean> =>
  access(join(root, 'etc/shadow')).then(
    () => true,
    (cause: NodeJS.ErrnoException) => cause.code !== 'ENOENT',
  )

function entryOf([name = '', passwd = '', ...days]: string[]): ShadowEntry {
  const [lstchg, min, max, warn, inact, expire] = Array.from({ length: 6 }, (_, n) => Number(days[n] || -1))
  return {
    name,
    passwd,
    lstchg: lstchg!,
    min: min!,
    max: max!,
    warn: warn!,
    inact: inact!,
    expire: expire!,
  }
}

/** Fields that an option of chage sets. */
interface Aging {
  readonly name: string
  readonly key: DayKey
  readonly value: number | string
  readonly option: string
  readonly root: Root
}

/** Set one field of a user's password aging with chage. Returns false for a user without a password entry. */
export async function setAging(
  { name, key, value, option, root }: Aging,
  context: Context,
): Promise<boolean> {
  const present = await findShadow(name, root, context)
  if (!present) return false
  if (String(present[key]) === String(value)) return true
  const words = [...rootOption(root), option, String(value), '--', name]
  const { retcode } = await runProgram(['chage', ...words], context)
  // A date is not compared, since people also write it as 2030-01-31.
  if (typeof value === 'string') return retcode === 0
  return (await findShadow(name, root, context))?.[key] === value
}

/** Run passwd with one of its options, and return the entry of the user then. */
export async function runPasswd(
  option: '-d' | '-l' | '-u',
  name: string,
  root: Root,
  context: Context,
): Promise<ShadowEntry | undefined> {
  await runProgram(['passwd', ...rootOption(root), option, '--', name], context, { quiet: true })
  return findShadow(name, root, context)
}

/**
 * Set the hashed password of a user. chpasswd takes it from its stdin, where no other user of this host sees it, and locks
 * the file as other programs do. With `usermod` it is an argument of that program instead.
 */
export async function setPassword(
  { name, password, usermod, root }: { name: string; password: string; usermod: boolean; root: Root },
  context: Context,
): Promise<boolean> {
  if (/[:\n\0]/.test(password)) {
    throw new SaltInvocationError(
      'password must be a hash, which has no colon and no line break; shadow.gen_password makes one',
    )
  }
  if (!(await findUser(name, root, context))) {
    context.log.warn(`user ${name} does not exist, cannot set password`)
    return false
  }
  if (!(await hasShadow(root))) {
    context.log.warn(`There is no ${join(root ?? '/', 'etc/shadow')}, so the password of ${name} is not set`)
    return false
  }
  if (usermod) {
    await runProgram(['usermod', ...rootOption(root), '-p', password, '--', name], context, { quiet: true })
  } else {
    const input = `${name}:${password}\n`
    await runProgram(['chpasswd', '-e', ...rootOption(root)], context, { input, quiet: true })
  }
  return (await findShadow(name, root, context))?.passwd === password
}
