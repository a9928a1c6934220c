/** The signing keys of issuers: cached, and fetched again when they are old or a token names a key that is not among them. */
import type { FetchImplementation, JWTVerifyGetKey } from 'jose'
import { beforeDeadline } from './_deadline.ts'
import { askOverHttp } from './_http.ts'
import { library } from './_library.ts'
import type { OidcSettings } from './_oidc-settings.ts'

interface Kept {
  readonly keys: Promise<JWTVerifyGetKey>
  readonly until: number
}

/** Key sets by their settings, as JSON. */
const known = new Map<string, Kept>()
/** The address of an issuer's keys is looked up again after this time. */
const DISCOVERED_MS = 3_600_000

export const forgetKeys = (): void => known.clear()

/** Rejects if the issuer does not report in time where its keys are. */
export function keysOf(settings: OidcSettings): Promise<JWTVerifyGetKey> {
  const { issuer, jwksUri, authorities, seconds } = settings
  const name = JSON.stringify([issuer, jwksUri?.href, authorities, seconds])
  const kept = known.get(name)
  if (kept && kept.until > Date.now()) return kept.keys
  const keys = opened(settings)
  known.set(name, { keys, until: Date.now() + DISCOVERED_MS })
  keys.catch(() => known.delete(name))
  return keys
}

async function opened(settings: OidcSettings): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet, customFetch } = await library('oidc', 'jose', () => import('jose'))
  const address = settings.jwksUri ?? (await discovered(settings))
  const { seconds } = settings
  const fetchKeys: FetchImplementation = async (url, { signal }) => {
    const place = new URL(url).host
    const { status, text } = await beforeDeadline({ place, seconds, signal }, (inTime) =>
      answer(new URL(url), settings, inTime),
    )
    return new Response(text, { status })
  }
  // jose's own error for a timeout says less, so its timeout is the longer one.
  return createRemoteJWKSet(address, { timeoutDuration: (seconds + 1) * 1000, [customFetch]: fetchKeys })
}

/** Look up the address of the keys in the issuer's OpenID Connect discovery document. */
async function discovered(settings: OidcSettings): Promise<URL> {
  const { issuer, seconds } = settings
  const { signal } = new AbortController() // never aborted: other requests may wait for the same lookup
  const address = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  return beforeDeadline({ place: address.host, seconds, signal }, async (inTime) => {
    const { status, text } = await answer(address, settings, inTime)
    if (status !== 200) throw new Error(`${address.pathname} answered ${status}`)
    const said = JSON.parse(text) as { readonly issuer?: unknown; readonly jwks_uri?: unknown }
    if (said.issuer !== issuer)
      throw new Error('its discovery document names another issuer than external_auth.oidc.^issuer')
    if (typeof said.jwks_uri !== 'string' || !URL.canParse(said.jwks_uri))
      throw new Error('its discovery document has no valid jwks_uri')
    const found = new URL(said.jwks_uri)
    if (found.protocol !== 'https:' && found.protocol !== address.protocol)
      throw new Error('its jwks_uri is an address without TLS')
    return found
  })
}

const answer = (url: URL, { authorities }: OidcSettings, signal: AbortSignal) =>
  askOverHttp({ method: 'GET', url, headers: { accept: 'application/json' }, authorities, signal })
