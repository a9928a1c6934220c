/** The SSH keys of users and hosts: who may log in, and which hosts are known. */
import { readdir, readFile } from 'node:fs/promises'
import { basename, isAbsolute, join } from 'node:path'
import { CommandExecutionError, fn, p, type Virtual } from 'salt-ts'
import { findUser } from './_cmd/users.ts'
import { which } from './_cmd/which.ts'
import { reasonOf } from './_host/files.ts'
import {
  checkKey,
  keysFrom,
  keysOf,
  type ListedKeys,
  removeKey,
  requireFetched,
  setKey,
} from './_ssh/authorized.ts'
import { needsPassphrase } from './_ssh/keys.ts'
import {
  entriesOf,
  hashNames,
  hostName,
  hostsFile,
  isFile,
  isProblem,
  problem,
  replaceEntries,
  scanHost,
} from './_ssh/known-hosts.ts'
import { localUsers, readText } from './_ssh/places.ts'
import { setHost } from './_ssh/set-host.ts'

/** Available where OpenSSH is installed. */
export const virtual: Virtual = async () =>
  (await which('ssh')) !== null || 'The module requires the ssh binary.'

const text = p.optional(p.string())
const user = p.string()
const config = p.default(
  p.string({ description: 'A path, below the home of the user if it is relative.' }),
  '.ssh/authorized_keys',
)
const saltenv = p.default(p.string(), 'base')
const fingerprint_hash_type = text
const port = p.optional(p.integer({ minimum: 1, maximum: 65535 }))
const options = p.optional(p.union(p.array(p.string()), p.string()))
const cache_keys = p.optional(p.array(p.any()))
const users = p.optional(p.union(p.string(), p.array(p.string())))
const HOST_KEY = /^ssh_host_(.+?)_key((?:-cert)?\.pub)?$/

/**
 * Return the keys of this host by type: private ones unless `private=False`, and certificates unless `certs=False`.
 *
 * @example salt '*' ssh.host_keys
 * @example salt '*' ssh.host_keys keydir=/etc/ssh private=False certs=False
 */
export const host_keys = fn(
  { keydir: text, private: p.default(p.boolean(), true), certs: p.default(p.boolean(), true) },
  async ({ keydir = '/etc/ssh', private: isPrivate, certs }) => {
    const names = await readdir(keydir).catch((cause: NodeJS.ErrnoException) => {
      throw new CommandExecutionError(`${keydir} cannot be read: ${cause.code}`)
    })
    const keys: Record<string, string> = {}
    for (const name of names.sort()) {
      const [, type, end = ''] = HOST_KEY.exec(name) ?? []
      if (type === undefined || (end === '' && !isPrivate) || (end.startsWith('-cert') && !certs)) continue
      keys[type + end] = (await readFile(join(keydir, name), 'utf8').catch(() => '')).trim()
    }
    return keys
  },
)

/**
 * Return the keys with which others may log in as a user, by key. For a list of users, or without one for all local users,
 * those of each.
 *
 * @example salt '*' ssh.auth_keys
 * @example salt '*' ssh.auth_keys root
 * @example salt '*' ssh.auth_keys user='[user1, user2]'
 */
export const auth_keys = fn(
  { user: users, config, fingerprint_hash_type },
  async ({ user, ...rest }, { log }) => {
    if (typeof user === 'string') return keysOf({ user, ...rest })
    const keys: Record<string, ListedKeys> = {}
    for (const name of user ?? (await localUsers())) {
      const found = await keysOf({ user: name, ...rest }).catch((cause: unknown) => {
        if (!(cause instanceof CommandExecutionError)) throw cause
        log.error(`The keys of ${name} are left out: ${cause.message}`)
        return {}
      })
      if (Object.keys(found).length > 0) keys[name] = found
    }
    return keys
  },
)

/**
 * Tell for each key of a file of the file server whether `ssh.set_auth_key_from_file` would add or update it, or it exists.
 *
 * @example salt '*' ssh.check_key_file root salt://ssh/keyfile
 */
export const check_key_file = fn(
  { user, source: p.string(), config, saltenv, fingerprint_hash_type },
  async ({ source, saltenv, ...where }, context) => {
    const keys = (await keysFrom(source, saltenv, where.fingerprint_hash_type, context)) ?? {}
    const states: Record<string, string> = {}
    for (const [key, given] of Object.entries(keys)) states[key] = await checkKey(key, given, where)
    return states
  },
)

/**
 * Tell whether `ssh.set_auth_key` would add or update a key (`add`, `update`), or it exists (`exists`).
 *
 * @example salt '*' ssh.check_key root AAAAB3NzaC1yc2E ssh-rsa me@example.com '[]'
 */
export const check_key = fn(
  {
    user,
    key: p.string(),
    enc: p.string(),
    comment: p.string(),
    options: p.union(p.array(p.string()), p.string()),
    config,
    cache_keys,
    fingerprint_hash_type,
  },
  ({ key, enc, comment, options, cache_keys: _, ...where }) =>
    checkKey(key, { enc, comment, options: listOf(options) }, where),
)

/**
 * Remove the keys of a file of the file server from those of a user.
 *
 * @example salt '*' ssh.rm_auth_key_from_file root salt://ssh_keys/id_rsa.pub
 */
export const rm_auth_key_from_file = fn(
  { user, source: p.string(), config, saltenv, fingerprint_hash_type },
  async ({ source, saltenv, ...where }, context) => {
    const keys = requireFetched(await keysFrom(source, saltenv, where.fingerprint_hash_type, context))
    const outcomes: string[] = []
    for (const key of Object.keys(keys)) outcomes.push(await removeKey(key, where, context))
    if (outcomes.length === 0) return 'fail'
    return outcomes.includes('Key removed') ? 'Key removed' : 'Key not present'
  },
)

/**
 * Remove a key from those of a user. All other lines of the file stay as they are.
 *
 * @example salt '*' ssh.rm_auth_key root AAAAB3NzaC1yc2E
 */
export const rm_auth_key = fn(
  { user, key: p.string(), config, fingerprint_hash_type },
  ({ key, ...where }, context) => removeKey(key, where, context),
)

/**
 * Add the keys of a file of the file server to those of a user. Returns `new`, `replace`, `no change` or `fail`.
 *
 * @example salt '*' ssh.set_auth_key_from_file root salt://ssh_keys/id_rsa.pub
 */
export const set_auth_key_from_file = fn(
  { user, source: p.string(), config, saltenv, fingerprint_hash_type },
  async ({ source, saltenv, ...where }, context) => {
    const keys = requireFetched(await keysFrom(source, saltenv, where.fingerprint_hash_type, context))
    const outcomes: string[] = []
    for (const [key, given] of Object.entries(keys)) outcomes.push(await setKey(key, given, where, context))
    if (outcomes.length === 0) return 'fail'
    return ['fail', 'replace', 'new'].find((outcome) => outcomes.includes(outcome)) ?? 'no change'
  },
)

/**
 * Let the owner of a key log in as a user. Returns `new`, `replace` (of other options or comment), `no change`, `fail` (no
 * such user), `invalid` or `Invalid public key`. `key` is the middle part of a line of authorized_keys.
 *
 * @example salt '*' ssh.set_auth_key root AAAAB3NzaC1yc2E enc=ssh-rsa comment=me@example.com
 * @example salt '*' ssh.set_auth_key backup AAAAC3NzaC1lZDI1NTE5 enc=ed25519 options='[no-pty, no-port-forwarding]'
 */
export const set_auth_key = fn(
  {
    user,
    key: p.string(),
    enc: p.default(p.string(), 'ssh-rsa'),
    comment: p.default(p.string(), ''),
    options,
    config,
    cache_keys,
    fingerprint_hash_type,
  },
  ({ key, enc, comment, options, cache_keys: _, ...where }, context) =>
    setKey(key, { enc, comment, options: listOf(options) }, where, context),
)

/**
 * Return the keys that a user, or with an empty user this host, knows of another host; null if there are none.
 *
 * @example salt '*' ssh.get_known_host_entries root github.com
 * @example salt '*' ssh.get_known_host_entries '' github.com config=/etc/ssh/ssh_known_hosts
 */
export const get_known_host_entries = fn(
  { user: p.string(), hostname: p.string(), config: text, port, fingerprint_hash_type },
  async ({ user, hostname, config, port, fingerprint_hash_type }, context) => {
    const file = await hostsFile(user, config)
    if (isProblem(file)) return file
    return orNull(await entriesOf(file, hostname, port, fingerprint_hash_type, context))
  },
)

/**
 * Ask another host for its keys, without storing them; null if it does not answer.
 *
 * @example salt '*' ssh.recv_known_host_entries github.com enc=ed25519 port=22
 */
export const recv_known_host_entries = fn(
  {
    hostname: p.string(),
    enc: text,
    port,
    hash_known_hosts: p.default(p.boolean(), true),
    timeout: p.default(p.integer({ minimum: 1 }), 5),
    fingerprint_hash_type,
  },
  async ({ hostname, hash_known_hosts: isHashed, fingerprint_hash_type, ...how }, context) =>
    orNull(await scanHost(hostname, { ...how, isHashed }, fingerprint_hash_type, context)),
)

/**
 * Tell whether `ssh.set_known_host` would add or update a host, or it is known, with this key or fingerprint.
 *
 * @example salt '*' ssh.check_known_host root github.com fingerprint='16:27:ac:a5'
 */
export const check_known_host = fn(
  { user: text, hostname: text, key: text, fingerprint: text, config: text, port, fingerprint_hash_type },
  async ({ user, hostname, key, fingerprint, config, port, fingerprint_hash_type }, context) => {
    if (!hostname) return problem('hostname argument required')
    const file = await hostsFile(user, config)
    if (isProblem(file)) return file
    const found = await entriesOf(file, hostname, port, fingerprint_hash_type, context)
    if (found.length === 0) return 'add'
    if (key) return found.some((entry) => entry.key === key) ? 'exists' : 'update'
    if (!fingerprint) return 'exists'
    return found.some((entry) => entry.fingerprint === fingerprint) ? 'exists' : 'update'
  },
)

/**
 * Remove a host from those that a user, or this host, knows.
 *
 * @example salt '*' ssh.rm_known_host root github.com
 */
export const rm_known_host = fn(
  { user: text, hostname: text, config: text, port },
  async ({ user, hostname, config, port }, context) => {
    if (!hostname) return problem('hostname argument required')
    const file = await hostsFile(user, config)
    if (isProblem(file)) return file
    if (!(await isFile(file.path))) return problem(`Known hosts file ${file.path} does not exist`)
    const name = hostName(hostname, port)
    const found = await replaceEntries(file, hostname, port, undefined, [], context)
    const said = found.map((number) => `# Host ${name} found: line ${number}`)
    said.push(found.length > 0 ? `${file.path} updated.` : `Host ${name} not found in ${file.path}`)
    return { status: 'removed', comment: said.join('\n') }
  },
)

/**
 * Store the key of a host among those that a user, or this host, knows: `key`, or the ones that the host shows, if
 * `fingerprint` is one of theirs. Without either, whatever the host shows is trusted.
 *
 * @example salt '*' ssh.set_known_host root github.com fingerprint='16:27:ac:a5' enc=ssh-ed25519
 */
export const set_known_host = fn(
  {
    user: text,
    hostname: text,
    fingerprint: text,
    key: text,
    port,
    enc: text,
    config: text,
    hash_known_hosts: p.default(p.boolean(), true),
    timeout: p.default(p.integer({ minimum: 1 }), 5),
    fingerprint_hash_type,
  },
  async ({ hostname, ...wanted }, context) =>
    hostname ? setHost({ ...wanted, hostname }, context) : problem('hostname argument required'),
)

const keyFile = p.optional(p.union(p.boolean(), p.string()))

/**
 * Return the keys that users have: their usual files in .ssh, or those of other names. `False` leaves out the public or the
 * private ones.
 *
 * @example salt '*' ssh.user_keys user=user1 prvfile=False
 * @example salt '*' ssh.user_keys user='[user1, user2]' pubfile=id_rsa.pub prvfile=id_rsa
 */
export const user_keys = fn(
  { user: users, pubfile: keyFile, prvfile: keyFile },
  async ({ user, pubfile, prvfile }) => {
    const names = [...filesOf(pubfile, '.pub'), ...filesOf(prvfile, '')]
    const keys: Record<string, Record<string, string>> = {}
    for (const name of user === undefined ? await localUsers() : [user].flat()) {
      const found = await findUser(name)
      if (!found) continue
      for (const file of names) {
        const path = isAbsolute(file) ? file : join(found.home, '.ssh', file)
        const content = await readText(path, found).catch(() => undefined)
        if (content !== undefined) keys[name] = { ...keys[name], [basename(file)]: content.trim() }
      }
    }
    return keys
  },
)

/**
 * Hash the names in a file of known hosts, so that it does not tell which hosts they are.
 *
 * @example salt '*' ssh.hash_known_hosts root
 */
export const hash_known_hosts = fn({ user: text, config: text }, async ({ user, config }) => {
  const file = await hostsFile(user, config)
  if (isProblem(file)) return file
  if (!(await isFile(file.path))) return problem(`Known hosts file ${file.path} does not exist`)
  await hashNames(file)
  return { status: 'updated', comment: `${file.path} updated.` }
})

/**
 * True if a file has a private key that needs a passphrase, also one in the format of OpenSSH.
 *
 * @example salt '*' ssh.key_is_encrypted /root/.ssh/id_rsa
 */
export const key_is_encrypted = fn({ key: p.string() }, async ({ key }) => {
  const file = await readFile(key, 'utf8').catch((error: unknown) => {
    const { code, errno = 0 } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new CommandExecutionError(`${key} does not exist`)
    const reason = code === 'EISDIR' ? 'Is a directory' : reasonOf(error)
    throw new CommandExecutionError(`Error ${-errno} encountered reading from ${key}: ${reason}`)
  })
  return needsPassphrase(file) ?? refuse(`${key} is not a private key`)
})

const refuse = (sentence: string): never => {
  throw new CommandExecutionError(sentence)
}

const KINDS = ['rsa', 'dsa', 'ecdsa', 'ed25519']

const filesOf = (given: boolean | string | undefined, end: string): string[] => {
  if (given === false) return []
  return typeof given === 'string' && given !== '' ? [given] : KINDS.map((kind) => `id_${kind}${end}`)
}

const listOf = (given: string | readonly string[] | undefined): string[] =>
  given === undefined ? [] : [given].flat().filter((option) => option !== '')

const orNull = <T>(found: T[]): T[] | null => (found.length > 0 ? found : null)
