/** The keys of repositories: those of apt-key, or of the files in a folder. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { isMapping } from '../_values/traverse.ts'
import { readApt } from './command.ts'
import { storeKey } from './keys.ts'

const FOLDER = '/etc/apt/keyrings'

export interface KeyPlace {
  readonly aptkey: boolean
  readonly keydir?: string | undefined
}

type Key = Record<string, unknown>

/** Return the keys by id; false if the folder is missing. */
export async function listKeys(place: KeyPlace, context: Context): Promise<Record<string, Key> | false> {
  if (await usesAptKey(place)) {
    const options = ['--batch', '--list-public-keys', '--with-fingerprint', '--with-fingerprint']
    const words = ['apt-key', 'adv', ...options, '--with-colons', '--fixed-list-mode'] as const
    const { retcode, stdout, stderr } = await readApt(words, context)
    return retcode === 0 ? keysIn(stdout) : fail(stderr, context)
  }
  const files = await filesOf(place, context)
  return files ? Object.assign({}, ...(await Promise.all(files.map((file) => keysOf(file, context))))) : false
}

export interface NewKey extends KeyPlace {
  readonly path?: string | undefined
  readonly text?: string | undefined
  readonly keyserver?: string | undefined
  readonly keyid?: string | undefined
  readonly keyfile?: string | undefined
  readonly saltenv: string
}

/** Add a key: of a file, a text or a key server. False if it cannot be added. */
export async function addKey(given: NewKey, context: Context): Promise<boolean> {
  const { path, text, keyserver, keyid } = given
  if (!given.aptkey && !(await filesOf(given, context))) return false
  if (keyid !== undefined && (await hasKey(checkedId(keyid), given, context))) return true
  if (!path && !text && !keyserver)
    throw new SaltInvocationError(
      keyid === undefined
        ? 'add_repo_key() takes at least 1 argument (0 given)'
        : `No keyserver specified for keyid: ${keyid}`,
    )
  if (!path && !text && keyid === undefined)
    throw new SaltInvocationError(`No keyid or keyid too short for keyserver: ${keyserver}`)
  return (await usesAptKey(given)) ? addToAptKey(given, context) : addToFolder(given, context)
}

async function addToAptKey({ path, text, keyserver = '', keyid = '', saltenv }: NewKey, context: Context) {
  const file = path ? await cached(path, saltenv, context) : '-'
  if (file === undefined) return false
  const words =
    path || text
      ? (['apt-key', 'add', file] as const)
      : (['apt-key', 'adv', '--batch', '--keyserver', noOption(keyserver), '--recv', keyid] as const)
  return succeeded(await readApt(words, context, text ? { input: text } : {}), context)
}

async function addToFolder(given: NewKey, context: Context): Promise<boolean> {
  const { path, text, keyserver = '', keyid = '', keydir = FOLDER, saltenv } = given
  const name = given.keyfile ?? path?.split('/').at(-1)
  if (!name)
    return fail('You must define the name of the key file to save the key. See keyfile argument', context)
  if (name.includes('/')) throw new SaltInvocationError(`keyfile=${name} is a path; give the name of a file`)
  const target = join(keydir, name)
  if (path || text) {
    const file = path && (await cached(path, saltenv, context))
    if (path && !file) return false
    await storeKey(target, file ? { file } : { text: text ?? '' })
    return true
  }
  // apt reads only this of gpg's two formats of key rings.
  const ring = `gnupg-ring:${target}`
  const options = ['--batch', '--no-default-keyring', '--keyring', ring, '--keyserver', noOption(keyserver)]
  return succeeded(await readApt(['gpg', ...options, '--recv-keys', keyid], context), context)
}

/** Remove a key by its id, and return the id; false if no file has it. */
export async function removeKey(keyid: string, place: KeyPlace, context: Context): Promise<string | false> {
  checkedId(keyid)
  if (await usesAptKey(place)) {
    const { retcode, stderr } = await readApt(['apt-key', 'del', keyid], context)
    if (retcode === 0) return keyid
    throw new CommandExecutionError(`Failed to remove keyid ${keyid}${stderr ? `: ${stderr}` : ''}`)
  }
  const files = await filesOf(place, context)
  if (!files) return false
  if (![8, 16].includes(keyid.length)) return fail('The keyid needs to be either 8 or 16 characters', context)
  for (const file of files)
    if (Object.keys(await keysOf(file, context)).some((id) => id.endsWith(keyid))) {
      await rm(file)
      return keyid
    }
  return fail(`Could not find the key file for keyid: ${keyid}`, context)
}

/** Ask Launchpad for the id of the key of a PPA. */
export async function keyOfPpa(name: string | undefined, { call }: Context): Promise<string> {
  const [, owner, ppa] = /^ppa:([\w.+-]+)\/([\w.+-]+)$/.exec(name ?? '') ?? []
  if (owner === undefined) throw new SaltInvocationError('keyid_ppa requires that a PPA be passed')
  const url = `https://launchpad.net/api/1.0/~${owner}/+archive/${ppa}`
  const { dict } = (await call('http.query', { url, decode: true })) as { dict?: unknown }
  const fingerprint = isMapping(dict) ? Object(dict).signing_key_fingerprint : undefined
  if (typeof fingerprint === 'string') return fingerprint.slice(-8)
  throw new CommandExecutionError(`Launchpad does not tell the key of ${name}`)
}

const usesAptKey = async ({ aptkey }: KeyPlace): Promise<boolean> =>
  aptkey && (await which('apt-key')) !== null

async function hasKey(keyid: string, place: KeyPlace, context: Context): Promise<boolean> {
  const keys = await listKeys(place, context)
  return keys !== false && Object.keys(keys).some((id) => id.endsWith(keyid))
}

async function filesOf({ keydir = FOLDER }: KeyPlace, context: Context): Promise<string[] | false> {
  if (
    await stat(keydir).then(
      (found) => found.isDirectory(),
      () => false,
    )
  )
    return (await readdir(keydir)).sort().map((name) => join(keydir, name))
  return fail(
    `The directory ${keydir} does not exist. Please create this directory only writable by root`,
    context,
  )
}

async function keysOf(file: string, context: Context): Promise<Record<string, Key>> {
  // Without a key ring and a trust model gpg needs no folder of its own.
  const options = ['--batch', '--no-options', '--no-default-keyring', '--trust-model', 'always']
  const words = ['gpg', ...options, '--show-keys', '--with-colons', file] as const
  return keysIn((await readApt(words, context, { ignoreRetcode: true })).stdout)
}

/** Parse what gpg writes with `--with-colons`. */
function keysIn(text: string): Record<string, Key> {
  const keys: Record<string, Key> = {}
  let key: Key | undefined
  for (const line of text.split('\n')) {
    const fields = line.split(':').map((field) => field.trim())
    const value = (at: number) => shownValue(fields[at] ?? '')
    const [kind] = fields
    if (kind === 'pub') {
      key = partOf(fields)
      keys[fields[4] ?? ''] = key
    } else if (kind === 'sub' && key) key.subkey = partOf(fields)
    else if (kind === 'fpr' && key) Object.assign((key.subkey as Key) ?? key, { fingerprint: value(9) })
    else if (kind === 'uid' && key) Object.assign(key, { uid: value(9), uid_hash: value(7) })
  }
  return keys
}

function partOf(fields: readonly string[]): Key {
  const value = (at: number) => shownValue(fields[at] ?? '')
  return {
    algorithm: value(3),
    bits: value(2),
    capability: value(11),
    date_creation: value(5),
    date_expiration: value(6),
    keyid: fields[4] ?? '',
    validity: value(1),
  }
}

const shownValue = (field: string): string | number | null =>
  field === '' ? null : /^-?\d{1,15}$/.test(field) ? Number(field) : field

function checkedId(keyid: string): string {
  if (/^(0x)?[\da-f]+$/i.test(keyid)) return keyid
  throw new SaltInvocationError(`'${keyid}' is no id of a key: it has to be hexadecimal digits`)
}

function noOption(keyserver: string): string {
  if (!keyserver.startsWith('-')) return keyserver
  throw new SaltInvocationError(`'${keyserver}' would be an option; give the name or URL of a key server`)
}

async function cached(path: string, saltenv: string, context: Context): Promise<string | undefined> {
  const file = await context.call('cp.cache_file', { path, saltenv })
  if (typeof file === 'string' && file !== '') return file
  fail(`Unable to get cached copy of file: ${path}`, context)
  return undefined
}

function succeeded({ retcode, stderr }: { retcode: number; stderr: string }, context: Context): boolean {
  return retcode === 0 || fail(`Unable to add repo key: ${stderr}`, context)
}

/** Say what is wrong in the log, and let the job fail. */
function fail(reason: string, context: Context): false {
  context.log.error(reason)
  context.retcode = 1
  return false
}
