/** The fingerprints of the minion's key and of its master's, to be compared with those of `salt-key -F` on the master. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context, fingerprint, fn, p } from 'salt-ts'

const params = { hash_type: p.optional(p.string()) }

/**
 * The fingerprint of the minion's public key, by `hash_type` of the configuration or of the call.
 *
 * @example salt '*' key.finger
 * @example salt-call --local key.finger
 */
export const finger = fn(params, ({ hash_type }, context) => fingerOf('minion.pub', hash_type, context))

/**
 * The fingerprint of the master's public key, as the minion has kept it.
 *
 * @example salt '*' key.finger_master
 */
export const finger_master = fn(params, ({ hash_type }, context) =>
  fingerOf('minion_master.pub', hash_type, context),
)

async function fingerOf(name: string, hashType: string | undefined, { opts }: Context): Promise<string> {
  const path = join(String(opts.pki_dir), name)
  const pem = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why =
      error.code === 'ENOENT' ? 'it is not there yet; the minion has it once it has signed in' : error.code
    throw new CommandExecutionError(`The key ${path} cannot be read: ${why}.`)
  })
  return fingerprint(pem, hashType ?? String(opts.hash_type ?? 'sha256'))
}
