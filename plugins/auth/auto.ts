/** Accepts every name with any password: for development only. */
import { auth } from 'salt-ts'
import { wrongWithName } from './_credentials.ts'

const isNamed = (opts: Readonly<Record<string, unknown>>): boolean =>
  typeof opts.external_auth === 'object' &&
  opts.external_auth !== null &&
  Object.hasOwn(opts.external_auth, 'auto')

export default auth({
  async authenticate({ username }, { opts }) {
    if (!isNamed(opts)) return { refused: 'external_auth does not name auto' }
    const refused = wrongWithName(username)
    return refused === undefined ? { name: username as string } : { refused }
  },
  async check({ log, opts }) {
    if (isNamed(opts))
      log.warn(
        'external_auth has auto, which accepts every name with any password. Use it for development only.',
      )
    return []
  },
})
