/** Minion keys: list, accept, reject, delete, compare. Results are maps by Salt's sections (`minions`, `minions_pre`, …). */
import { fn, p, SaltInvocationError } from 'salt-ts'

const off = p.default(p.boolean(), false)
const text = p.string({ minLength: 1 })
const match = p.described(text, 'A shell pattern, or several with commas.')
const dict = p.described(p.record(p.array(p.string())), 'Ids by section.')
const hash_type = p.optional(p.string())
const keysize = p.default(p.integer({ minimum: 2048, maximum: 8192 }), 2048)
const accepting = { include_rejected: off, include_denied: off }
const rejecting = { include_accepted: off, include_denied: off }

/**
 * List the keys in a state: `accepted`, `pre` (or `unaccepted`), `rejected`, `denied`, `all`.
 *
 * @example salt-run key.list pre
 */
export const list = fn({ match: text }, async ({ match: word }, { master }) => {
  const found = await master.keys.list(word)
  if (found) return found
  throw new SaltInvocationError(`There is no list '${word}'. Use accepted, pre, rejected, denied or all.`)
})

/**
 * List all keys, and the files of the master's own keys.
 *
 * @example salt-run key.list_all
 */
export const list_all = fn((_, { master }) => master.keys.all())

/**
 * List the keys whose id matches.
 *
 * @example salt-run key.name_match 'web*'
 */
export const name_match = fn({ match }, ({ match }, { master }) => master.keys.match(match))

/**
 * Accept pending keys; on request also rejected and denied ones.
 *
 * @example salt-run key.accept 'web*'
 */
export const accept = fn({ match, ...accepting }, ({ match, ...include }, { master }) =>
  master.keys.accept(match, accepted(include)),
)

/**
 * Accept keys by section and id.
 *
 * @example salt-run key.accept_dict '{minions_pre: [web1, web2]}'
 */
export const accept_dict = fn({ match: dict, ...accepting }, ({ match, ...include }, { master }) =>
  master.keys.acceptDict(match, accepted(include)),
)

/**
 * Reject pending keys; on request also accepted and denied ones.
 *
 * @example salt-run key.reject 'web*' include_accepted=True
 */
export const reject = fn({ match, ...rejecting }, ({ match, ...include }, { master }) =>
  master.keys.reject(match, rejected(include)),
)

/**
 * Reject keys by section and id.
 *
 * @example salt-run key.reject_dict '{minions_pre: [web1]}'
 */
export const reject_dict = fn({ match: dict, ...rejecting }, ({ match, ...include }, { master }) =>
  master.keys.rejectDict(match, rejected(include)),
)

/**
 * Delete keys, whatever their state.
 *
 * @example salt-run key.delete 'web*'
 */
const remove = fn({ match }, ({ match }, { master }) => master.keys.delete(match))

export { remove as delete }

/**
 * Delete keys by section and id.
 *
 * @example salt-run key.delete_dict '{minions: [web1]}'
 */
export const delete_dict = fn({ match: dict }, ({ match }, { master }) => master.keys.deleteDict(match))

/**
 * Return the public keys whose id matches, as PEM.
 *
 * @example salt-run key.print web1
 */
export const print = fn({ match }, ({ match }, { master }) => master.keys.print(match))

/**
 * Return the fingerprints of the keys whose id matches.
 *
 * @example salt-run key.finger 'web*' hash_type=md5
 */
export const finger = fn({ match, hash_type }, ({ match, hash_type }, { master }) =>
  master.keys.finger(match, hash_type),
)

/**
 * Return the fingerprint of the master's public key (`master_finger` of minions).
 *
 * @example salt-run key.finger_master
 */
export const finger_master = fn({ hash_type }, ({ hash_type }, { master }) =>
  master.keys.fingerMaster(hash_type),
)

/**
 * Return the master's public key as PEM.
 *
 * @example salt-run key.master_key_str
 */
export const master_key_str = fn((_, { master }) => master.keys.master())

/**
 * Make a key pair. It is not stored.
 *
 * @example salt-run key.gen
 */
export const gen = fn({ id_: p.optional(p.string()), keysize }, ({ keysize }, { master }) =>
  master.keys.generate(keysize),
)

/**
 * Make a key pair for a minion and accept the public key; only the result has the private key. An id that has a key
 * is left as it is, unless with `force`.
 *
 * @example salt-run key.gen_accept web9
 */
export const gen_accept = fn(
  { id_: text, keysize, force: off },
  async ({ id_, ...options }, { master }) => (await master.keys.generateAccepted(id_, options)) ?? {},
)

const place = p.optional(p.string({ pattern: '^/', description: 'An absolute path.' }))
const bits = p.optional(p.integer({ minimum: 2048, maximum: 8192 }))

/**
 * Make a key pair in a folder of the master's host: `<keyname>.pem` and `<keyname>.pub`, by default `minion` in
 * `pki_dir`. An existing private key is kept. Returns the fingerprint.
 *
 * @example salt-run wheel key.gen_keys keydir=/etc/salt/pki/new keyname=web9
 */
export const gen_keys = fn(
  { keydir: place, keyname: p.optional(text), keysize: bits, user: p.optional(p.string()) },
  (files, { master }) => master.keys.generateFiles(files),
)

/**
 * Sign the master's public key with the signing key, for `master_use_pubkey_signature`. The default paths are those of
 * the configuration; with `auto_create`, a missing signing key is created.
 *
 * @example salt-run wheel key.gen_signature auto_create=True
 */
export const gen_signature = fn(
  { priv: place, pub: place, signature_path: place, auto_create: off, keysize: bits },
  async ({ signature_path: signaturePath, auto_create: autoCreate, ...request }, { master }) => {
    await master.keys.generateSignature({ ...request, signaturePath, autoCreate })
    return true
  },
)

const accepted = (include: { include_rejected: boolean; include_denied: boolean }) => ({
  includeRejected: include.include_rejected,
  includeDenied: include.include_denied,
})

const rejected = (include: { include_accepted: boolean; include_denied: boolean }) => ({
  includeAccepted: include.include_accepted,
  includeDenied: include.include_denied,
})
