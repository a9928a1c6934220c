/** The keys with which others may log in as a user. */
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { findUser, type User } from '../_cmd/users.ts'
import { inTurn } from '../_lock/in-turn.ts'
import { type AuthKey, fingerprintOf, keyLine, keyType, readKeyLine } from './keys.ts'
import { keysPath, readText, requireUser, writeOwned } from './places.ts'

export interface Where {
  readonly user: string
  readonly config: string
  readonly fingerprint_hash_type?: string | undefined
}
export type ListedKeys = Record<string, AuthKey & { readonly fingerprint: string }>

/** Read the keys of a user; none if there is no such user or file. */
export async function keysOf({ user, config, fingerprint_hash_type }: Where): Promise<ListedKeys> {
  const found = await findUser(user)
  return (found && (await keysIn(keysPath(config, found), fingerprint_hash_type, found))) ?? {}
}

/** Read the keys in a file; undefined if there is none. */
async function keysIn(path: string, hash: string | undefined, user?: User): Promise<ListedKeys | undefined> {
  const text = await readText(path, user)
  if (text === undefined) return undefined
  const keys: ListedKeys = {}
  for (const line of text.split('\n')) {
    const read = readKeyLine(line)
    const fingerprint = read && fingerprintOf(read.key, hash)
    if (!read || fingerprint === undefined) continue
    keys[read.key] = { enc: read.enc, comment: read.comment, options: read.options, fingerprint }
  }
  return keys
}

/** Fetch a file of keys: undefined if the file server has none; an empty map if it has no keys, with an error in the log. */
export async function keysFrom(
  source: string,
  saltenv: string,
  hash: string | undefined,
  { call, log }: Context,
): Promise<ListedKeys | undefined> {
  const cached = await call('cp.cache_file', { path: source, saltenv })
  if (typeof cached !== 'string' || cached === '') return undefined
  const keys = await keysIn(cached, hash)
  if (!keys) throw new CommandExecutionError(`Problem reading ssh key file ${cached}`)
  if (Object.keys(keys).length === 0) log.error(`No keys detected in ${source}. Is file properly formatted?`)
  return keys
}

/** Whether a key has to be added or updated, or exists. */
export async function checkKey(key: string, given: AuthKey, where: Where) {
  const wanted = { ...given, enc: keyType(given.enc) }
  const found = (await keysOf(where))[key]
  if (!found) return 'add'
  return keyLine(key, found) === keyLine(key, wanted) ? 'exists' : 'update'
}

/** Add a key, or replace the line that has it. */
export async function setKey(key: string, given: AuthKey, where: Where, context: Context) {
  if (/\s/.test(key.trim())) return 'invalid'
  if (/[\r\n]/.test([given.comment, ...given.options].join()))
    throw new SaltInvocationError('A comment or option with a line break would be another key')
  const wanted = { ...given, enc: keyType(given.enc) }
  const user = await findUser(where.user)
  if (!user) return 'fail'
  if (fingerprintOf(key, where.fingerprint_hash_type) === undefined) return 'Invalid public key'
  const path = keysPath(where.config, user)
  return inTurn(path, context, async () => {
    const state = await checkKey(key, wanted, where)
    if (state === 'exists') return 'no change'
    const text = (await readText(path, user)) ?? ''
    const line = keyLine(key, wanted)
    const changed =
      state === 'add'
        ? `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`
        : mapLines(text, (old) => (readKeyLine(old)?.key === key ? line : old))
    await writeOwned(path, changed, user)
    return state === 'add' ? 'new' : 'replace'
  })
}

/** Remove the lines that have a key. All others stay as they are. */
export async function removeKey(key: string, where: Where, context: Context) {
  if (!Object.hasOwn(await keysOf(where), key)) return 'Key not present'
  const user = await requireUser(where.user)
  const path = keysPath(where.config, user)
  await inTurn(path, context, async () => {
    const text = (await readText(path, user)) ?? ''
    await writeOwned(
      path,
      mapLines(text, (line) => (readKeyLine(line)?.key === key ? undefined : line)),
      user,
    )
  })
  return 'Key removed'
}

const mapLines = (text: string, change: (line: string) => string | undefined): string =>
  text
    .split('\n')
    .map(change)
    .filter((line) => line !== undefined)
    .join('\n')

/** Require a fetched file of keys. @throws CommandExecutionError */
export function requireFetched(keys: ListedKeys | undefined): ListedKeys {
  if (keys) return keys
  throw new CommandExecutionError('Failed to pull key file from salt file server')
}
