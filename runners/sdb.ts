/**
 * Read and write values in stores on the master's host, by URIs of the form `sdb://PROFILE/KEY`. A profile is a map under its name in
 * the configuration of the master; see the execution module `sdb`.
 */
import { fn, p } from 'salt-ts'

const uri = p.any({ description: 'sdb://PROFILE/KEY' })

/**
 * Return a value, or null if there is none. A URI that is not valid is returned as it is.
 *
 * @example salt-run sdb.get sdb://mymemcached/foo
 */
export const get = fn({ uri }, ({ uri }, { master }) => master.call('sdb.get', [uri]))

/**
 * Store a value, and return what the driver says of it: true, or the value that is stored then. False if the URI is not valid.
 *
 * @example salt-run sdb.set sdb://mymemcached/foo bar
 */
const set_ = fn({ uri, value: p.secret(p.any()) }, ({ uri, value }, { master }) =>
  master.call('sdb.set', [uri, value]),
)

export { set_ as set }

/**
 * Remove a value. False if the URI is not valid. None of the drivers `env`, `rest` and `sqlite3` can do it.
 *
 * @example salt-run sdb.delete sdb://mymemcached/foo
 */
const delete_ = fn({ uri }, ({ uri }, { master }) => master.call('sdb.delete', [uri]))

export { delete_ as delete }

/**
 * Return a value; if there is none, make a random text of so many characters and store it.
 *
 * @example salt-run sdb.get_or_set_hash 'sdb://mymemcached/SECRET_KEY' 50
 */
export const get_or_set_hash = fn(
  { uri, length: p.optional(p.integer({ minimum: 0 })), chars: p.optional(p.string()) },
  ({ uri, ...made }, { master }) => master.call('sdb.get_or_set_hash', [uri], made),
)
