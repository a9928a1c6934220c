import { createHmac } from 'node:crypto'
import { chown, type FileHandle, lstat, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { currentUser } from '../base/current-user.ts'
import { fillFileAtomic, writeFileAtomic } from '../base/files/atomic-file.ts'
import type { MasterConfig } from '../config/index.ts'
import { SymmetricKey, secretsEqual } from '../crypto/index.ts'
import { type AclConfig, aclUsers } from './acl-users.ts'
import { findUser } from './users.ts'

type Config = Pick<MasterConfig, 'cachedir' | 'user'> & AclConfig

const keyFile = /^\.(.+)_key$/

/**
 * Create key files for all local users who may publish through this master: the current user, the master's user, and
 * those of `publisher_acl` (wire protocol §14.4). A file has 76 characters, mode 0600 and belongs to its user. Valid
 * files are kept, so that commands which have read them survive a restart of the master; files of other users are
 * removed. Only root can create files for others: a master without root keeps those that root created for it
 * (`writeRootKeysFor`), and reports users without a file to `warn`.
 */
export async function writeRootKeys(
  config: Config,
  warn: (message: string) => void = () => {},
): Promise<void> {
  await mkdir(config.cachedir, { recursive: true, mode: 0o700 })
  const masterUsers = new Set([config.user, currentUser()].filter(isFileName))
  const others = (await aclUsers(config)).filter((user) => isFileName(user) && !masterUsers.has(user))
  const isRoot = process.geteuid?.() === 0
  const given = isRoot ? [] : await usersWithKeys(config, others)
  const without = isRoot ? [] : others.filter((user) => !given.includes(user))
  if (without.length > 0) {
    warn(
      `publisher_acl has no effect for ${without.join(', ')}: only root can create their keys. Start salt-master as root, ` +
        `and it will switch to user ${config.user} itself (option user).`,
    )
  }
  const users = new Set([...masterUsers, ...(isRoot ? others : [])])
  for (const user of users) await writeKey(pathOf(config.cachedir, user), user)
  await removeOthers(config.cachedir, new Set([...users, ...given]))
}

/**
 * Create key files for the users of `publisher_acl`, readable by the group of the master's user (`gid`). Root does
 * this for a master that will run as another user.
 */
export async function writeRootKeysFor(config: Config, gid: number): Promise<void> {
  for (const user of await aclUsers(config)) {
    const owner = await findUser(user)
    if (!owner || user === config.user || !isFileName(user)) continue
    const path = pathOf(config.cachedir, user)
    if (await isGood(path, { uid: owner.uid, gid, mode: 0o640 })) continue
    const write = (file: FileHandle) => file.writeFile(SymmetricKey.generate().text)
    await fillFileAtomic(path, write, {
      mode: 0o640,
      owner: { uid: owner.uid, gid },
    })
  }
}

/** Return the users whose key files belong to them. */
async function usersWithKeys(config: Config, users: readonly string[]): Promise<string[]> {
  const given: string[] = []
  for (const user of users) {
    const [owner, file] = [
      await findUser(user),
      await stat(pathOf(config.cachedir, user)).catch(() => undefined),
    ]
    if (owner && file?.uid === owner.uid && isKey(await readRootKey(config, user))) given.push(user)
  }
  return given
}

/** Read a user's key; undefined if there is none or this process may not read it. */
export async function readRootKey(
  { cachedir }: Pick<Config, 'cachedir'>,
  user: string,
): Promise<string | undefined> {
  if (!isFileName(user)) return undefined
  const text = await readFile(pathOf(cachedir, user), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : text.trim()
}

/** Sign a client address, which proves that the signer holds this key. */
export const signForAddress = (key: string, address: string): string =>
  createHmac('sha256', key).update(`via ${address}`).digest('base64')

/** Verifies proofs made with the keys of local users. */
export class RootKeys {
  readonly #config: Pick<Config, 'cachedir'>

  constructor(config: Pick<Config, 'cachedir'>) {
    this.#config = config
  }

  /** Whether this is the key of that user. Takes constant time. */
  async matches(user: string, key: string): Promise<boolean> {
    const stored = await readRootKey(this.#config, user)
    const equal = secretsEqual(key, stored ?? '')
    return equal && isKey(stored)
  }

  /** Whether the proof was made with the key of that user. */
  async isValidProof(user: string, address: string, proof: string): Promise<boolean> {
    const stored = await readRootKey(this.#config, user)
    return isKey(stored) && secretsEqual(proof, signForAddress(stored, address))
  }
}

/** Whether the text is a complete key. */
function isKey(text: string | undefined): text is string {
  return text !== undefined && /^[A-Za-z0-9+/]{75}=$/.test(text)
}

async function writeKey(path: string, user: string): Promise<void> {
  const owner = await findUser(user)
  if (await isGood(path, { uid: owner?.uid ?? process.geteuid?.(), mode: 0o600 })) return
  await writeFileAtomic(path, SymmetricKey.generate().text, { mode: 0o600 })
  if (owner && process.geteuid?.() === 0) await chown(path, owner.uid, owner.gid)
}

/** Whether the file holds a complete key and has this owner and mode, so that nobody else can have read or written it. */
async function isGood(
  path: string,
  { uid, gid, mode }: { readonly uid?: number | undefined; readonly gid?: number; readonly mode: number },
): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  if (!found?.isFile() || found.uid !== uid || (found.mode & 0o777) !== mode) return false
  if (gid !== undefined && found.gid !== gid) return false
  const text = await readFile(path, 'utf8').catch(() => undefined)
  return isKey(text?.trim())
}

async function removeOthers(cachedir: string, users: ReadonlySet<string>): Promise<void> {
  const kept = new Set([...users].map((user) => fileName(user)))
  const stale = (await readdir(cachedir)).filter((name) => keyFile.test(name) && !kept.has(name))
  await Promise.all(stale.map((name) => rm(join(cachedir, name), { force: true })))
}

const fileName = (user: string) => `.${user.replaceAll('\\', '_')}_key`
const pathOf = (cachedir: string, user: string) => join(cachedir, fileName(user))
const isFileName = (user: string) => user !== '' && user.length < 200 && !/[/\0]/.test(user)
