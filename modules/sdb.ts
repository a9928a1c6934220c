/**
 * Read and write values in stores, by URIs of the form `sdb://PROFILE/KEY`.
 *
 * A profile is a map in the configuration, or in the pillar, under its name. `driver` says what store it is: `env`, the environment of
 * the job; `sqlite3`, a table of the file `database`; `rest`, requests by name, each with a `url`.
 */
import { randomInt } from 'node:crypto'
import { CommandExecutionError, fn, p, SaltInvocationError } from 'salt-ts'
import { noPlace, placeOf } from './_sdb/address.ts'

const uri = p.any({ description: 'sdb://PROFILE/KEY' })

/**
 * Return a value, or null if there is none. A URI that is not valid is returned as it is, or refused with `strict`.
 *
 * @example salt '*' sdb.get sdb://mymemcached/foo strict=True
 */
export const get = fn({ uri, strict: p.default(p.boolean(), false) }, ({ uri, strict }, context) => {
  const place = placeOf(uri, context)
  if (place) return place.driver.get(place.key, place.profile, context)
  if (strict) throw noPlace(uri)
  return uri
})

/**
 * Store a value, and return what the driver says of it: true, or the value that is stored then. False if the URI is not valid.
 *
 * @example salt '*' sdb.set sdb://mymemcached/foo bar
 */
const set_ = fn({ uri, value: p.secret(p.any()) }, ({ uri, value }, context) => {
  const place = placeOf(uri, context)
  return place ? place.driver.set(place.key, value, place.profile, context) : false
})

export { set_ as set }

/**
 * Remove a value. False if the URI is not valid. As in Salt, none of the drivers `env`, `rest` and `sqlite3` can do it.
 *
 * @example salt '*' sdb.delete sdb://mymemcached/foo
 */
const delete_ = fn(
  { uri },
  ({ uri }, context) => {
    const place = placeOf(uri, context)
    if (!place) return false
    throw new CommandExecutionError(`The SDB driver '${place.driverName}' cannot remove values`)
  },
  { returns: p.boolean() },
)

export { delete_ as delete }

/**
 * Return a value; if there is none, make a random text of so many characters and store it.
 *
 * @example salt '*' sdb.get_or_set_hash 'sdb://mymemcached/SECRET_KEY' 50
 */
export const get_or_set_hash = fn(
  {
    uri,
    length: p.default(p.integer({ minimum: 0 }), 8),
    chars: p.default(p.string(), 'abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)'),
  },
  async ({ uri, length, chars }, context) => {
    if (chars === '') throw new SaltInvocationError("'chars' has no characters to choose from")
    const place = placeOf(uri, context)
    if (!place) return typeof uri === 'string' && uri.startsWith('sdb://') ? uri : false
    const known = await place.driver.get(place.key, place.profile, context)
    if (known !== null) return known
    const all = [...chars]
    const made = Array.from({ length }, () => all[randomInt(all.length)]).join('')
    await place.driver.set(place.key, made, place.profile, context)
    return made
  },
)
