/** Tokens of `external_auth`, for programs that should not have a password. */
import { fn, p } from 'salt-ts'

/**
 * Make a token on the master for a user with these credentials. Returns the `token`, its user, its start and its
 * expiry. Backends that need something other than a user and a password receive all other arguments.
 *
 * @example salt-run auth.mk_token username=alice password=s3cret eauth=pam
 * @example salt-run auth.mk_token username=alice password=s3cret eauth=pam token_expire=86400
 */
export const mk_token = fn(
  {
    eauth: p.string({ minLength: 1, description: 'A backend in external_auth of the master.' }),
    username: p.optional(p.string()),
    password: p.secret(p.optional(p.string())),
    token_expire: p.optional(p.number({ exclusiveMinimum: 0, description: 'Seconds, if users may choose.' })),
    more: p.keywords(p.secret(p.any())),
  },
  ({ more, ...credentials }, { master }) => {
    const given = Object.entries({ ...more, ...credentials }).filter(
      ([name, value]) => value !== undefined && !name.startsWith('__'),
    )
    return master.tokens.make(Object.fromEntries(given))
  },
)

/**
 * Delete a token. Returns false if there is none.
 *
 * @example salt-run auth.del_token 6556760736e4077daa601baec2b67c24
 */
export const del_token = fn({ token: p.secret(p.string({ minLength: 1 })) }, ({ token }, { master }) =>
  master.tokens.remove(token),
)
