/** Show the fingerprints of the minion's key and of its master's key, to compare with `salt-key -F` on the master. */
import { getHashes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError } from 'salt-ts'
import { fingerprint } from '#internal'

const params = { hash_type: p.optional(p.string()) }

/**
 * Return the fingerprint of the minion's public key; an empty text before the minion has signed in. `hash_type` defaults to that of
 * the configuration.
 *
 * @example salt '*' key.finger
 * @example salt-call --local key.finger
 */
export const finger = fn(params, ({ hash_type }, context) => fingerOf('minion.pub', hash_type, context))

/**
 * Return the fingerprint of the master's public key that the minion has stored; an empty text before it has one.
 *
 * @example salt '*' key.finger_master
 */
export const finger_master = fn(params, ({ hash_type }, context) =>
  fingerOf('minion_master.pub', hash_type, context),
)

async function fingerOf(name: string, hashType: string | undefined, { opts }: Context): Promise<string> {
  const hash = hashType ?? String(opts.hash_type ?? 'sha256')
  if (!getHashes().includes(hash))
    throw new SaltInvocationError(`hash_type '${hash}' is not supported: use sha256 or another of OpenSSL.`)
  const path = join(String(opts.pki_dir), name)
  const pem = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new CommandExecutionError(`The key ${path} cannot be read: ${error.code}.`)
  })
  if (pem === undefined) return ''
  return fingerprint(pem, hash)
}
