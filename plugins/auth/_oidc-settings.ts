import { readUrl } from './_http.ts'
import { readSettings } from './_settings.ts'

/** Signature algorithms with a public key. One with a shared secret would accept the public key as the secret. */
export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const

export interface OidcSettings {
  readonly issuer: string
  readonly audience: readonly string[]
  /** Address of the keys; if it is undefined, the issuer's discovery document gives it. */
  readonly jwksUri: URL | undefined
  readonly authorities: string | undefined
  readonly usernameClaim: string
  readonly groupsClaim: string
  readonly algorithms: readonly string[]
  /** Allowed clock difference in seconds. */
  readonly leeway: number
  readonly seconds: number
}

export const oidcSettings = (settings: Readonly<Record<string, unknown>>): OidcSettings =>
  readSettings('external_auth.oidc.^', settings, (read) => {
    read.needed('issuer')
    readUrl(read, 'issuer')
    const audience = read.texts('audience')
    if (audience.length === 0)
      read.refuse('audience', 'is missing: without it, tokens for other audiences would be accepted')
    const algorithms = read.texts('algorithms')
    if (algorithms.some((one) => !(ALGORITHMS as readonly string[]).includes(one)))
      read.refuse('algorithms', `must be some of ${ALGORITHMS.join(', ')}`)
    return {
      issuer: read.text('issuer') ?? '',
      audience,
      jwksUri: readUrl(read, 'jwks_uri'),
      authorities: read.text('ca_file'),
      usernameClaim: read.text('username_claim') ?? 'sub',
      groupsClaim: read.text('groups_claim') ?? 'groups',
      algorithms: algorithms.length > 0 ? algorithms : ALGORITHMS,
      leeway: read.integer('leeway', 10, [0, 300]),
      seconds: read.seconds('timeout', 10),
    }
  })
