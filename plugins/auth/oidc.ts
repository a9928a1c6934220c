/** Tokens of an OpenID Connect issuer: a valid token proves that its holder has logged in there. */

import type { JWTPayload } from 'jose'
import { type Authenticated, auth, type Credentials } from 'salt-ts'
import { type Refused, wrongWithName } from './_credentials.ts'
import { isOpen } from './_http.ts'
import { library, missingLibrary } from './_library.ts'
import { forgetKeys, keysOf } from './_oidc-keys.ts'
import { type OidcSettings, oidcSettings } from './_oidc-settings.ts'
import { problemsOf } from './_settings.ts'

const MAX_TOKEN = 16_384

/** Return the `id_token`, or the password, for clients that can only send one. */
function tokenIn({ id_token, password }: Credentials): string | undefined {
  const token = id_token ?? password
  return typeof token === 'string' && token.length <= MAX_TOKEN && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)
    ? token
    : undefined
}

/** Return the user that the verified token belongs to. */
function holderOf(claims: JWTPayload, given: unknown, settings: OidcSettings): Authenticated | Refused {
  const { usernameClaim, groupsClaim } = settings
  const name = claimOf(claims, usernameClaim)
  const refused = wrongWithName(name)
  if (refused !== undefined)
    return { refused: `the claim ${usernameClaim} is not a valid user name: ${refused}` }
  if (usernameClaim === 'email' && claims.email_verified !== true)
    return { refused: 'the issuer has not verified the address of the claim email' }
  if (given !== undefined && given !== '' && given !== name)
    return { refused: 'the token belongs to another user' }
  const groups = [claimOf(claims, groupsClaim) ?? []].flat()
  return { name: name as string, groups: groups.filter((group) => typeof group === 'string') }
}

/** Return a claim. If none has the name `realm_access.roles`, `roles` is looked up in the map `realm_access`. */
function claimOf(claims: JWTPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? Reflect.get(value, name)
          : undefined,
      claims,
    )
}

/** Codes of jose for a bad token. Any other error is a problem of the issuer. */
const REFUSALS =
  /^ERR_(?:JWT_|JWS_|JWK_|JWKS_(?:NO|MULTIPLE)_MATCHING|JOSE_(?:ALG_NOT_ALLOWED|NOT_SUPPORTED))/

export default auth({
  credentials: ['id_token'],
  async authenticate(credentials, { settings: own }) {
    const token = tokenIn(credentials)
    if (token === undefined) return { refused: 'no token was given as id_token or password' }
    const settings = oidcSettings(own)
    const { jwtVerify } = await library('oidc', 'jose', () => import('jose'))
    const { issuer, audience, algorithms, leeway } = settings
    const keys = await keysOf(settings)
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: [...audience],
        algorithms: [...algorithms],
        clockTolerance: leeway,
        requiredClaims: ['exp'],
      })
      return holderOf(payload, credentials.username, settings)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (REFUSALS.test(code ?? '')) return { refused: message }
      throw new Error(`Keys of ${issuer}: ${message}`, { cause: error })
    }
  },
  check: async ({ settings: own, log }) => [
    ...missingLibrary('oidc', 'jose'),
    ...(await problemsOf(() => {
      const { issuer, jwksUri } = oidcSettings(own)
      const open = [new URL(issuer), jwksUri].find((url) => url && isOpen(url))
      if (open)
        log.warn(
          `external_auth.oidc has http:// for ${open.host}: anybody on the network path to it can log in as any user.`,
        )
    })),
  ],
  close: async () => forgetKeys(),
})
