/** Credentials of a request: its token, or those of a chunk. The master checks them. */
import type { FastifyRequest } from 'fastify'
import type { ExternalAuth } from '../client/local/external-auth.ts'
import { valueText } from '../dialect/json.ts'
import { type Chunk, CREDENTIALS } from './chunk.ts'
import type { ApiContext } from './context.ts'
import { type Denied, denial, deniedOf } from './denials.ts'
import type { ApiSettings } from './settings.ts'

export const COOKIE = 'session_id'

const noCredentials = (denied?: Denied) =>
  denial('AUTHENTICATION_FAILED', 'No authentication credentials given', denied)

/** Return the token a request has, unchecked: `X-Auth-Token`, else the cookie. */
export function presentedToken(
  { headers }: FastifyRequest,
  { enable_sessions }: Pick<ApiSettings, 'enable_sessions'>,
): string | undefined {
  const token = headers['x-auth-token'] || (enable_sessions && cookiesOf(headers.cookie).get(COOKIE))
  return typeof token === 'string' && token !== '' ? token : undefined
}

/**
 * Return the token of a request.
 * @throws SaltError AUTHENTICATION_FAILED if there is none or it is malformed; AUTHORIZATION_FAILED for a page of
 * another site
 */
export function requiredToken(request: FastifyRequest, context: ApiContext): string {
  const token = optionalToken(request, context)
  if (token === undefined) throw noCredentials()
  return token
}

/** Return the token of a request, or undefined. Throws as `requiredToken` for one that may not be used. */
export function optionalToken(request: FastifyRequest, { settings }: ApiContext): string | undefined {
  const token = presentedToken(request, settings)
  if (token === undefined) return undefined
  if (!request.headers['x-auth-token']) refuseForeignPage(request, settings.cors_origin)
  return checkedToken(token)
}

/** Return the credentials of a chunk: the token of the request, its own token, or user and password. */
export function authOf(chunk: Chunk, token: string | undefined): ExternalAuth {
  if (token !== undefined) return { token }
  if (typeof chunk.token === 'string') return { token: checkedToken(chunk.token, deniedOf(chunk)) }
  const { eauth, username = '' } = chunk
  if (typeof eauth !== 'string') throw noCredentials(deniedOf(chunk))
  const given = CREDENTIALS.filter((name) => chunk[name] !== undefined)
  const credentials = Object.fromEntries(given.map((name) => [name, chunk[name]]))
  return { ...credentials, eauth, username: valueText(username) }
}

/** Refuse a text that is not a hexadecimal token without asking the master. */
function checkedToken(token: string, denied?: Denied): string {
  if (/^[\da-fA-F]{1,256}$/.test(token)) return token
  throw denial('AUTHENTICATION_FAILED', 'Invalid token', denied)
}

/** Refuse a cookie that a page of another site made the browser send (CSRF), unless `cors_origin` allows that site. */
function refuseForeignPage(request: FastifyRequest, allowed: readonly string[]): void {
  if (isFromHere(request, allowed)) return
  throw denial(
    'AUTHORIZATION_FAILED',
    `Pages of ${request.headers.origin ?? 'other sites'} may not use a session of this server (cors_origin).`,
    { rule: 'cors_origin' },
  )
}

function isFromHere({ headers, host }: FastifyRequest, allowed: readonly string[]): boolean {
  const { origin } = headers
  if (origin === undefined) return !/^(?:cross-site|same-site)$/.test(String(headers['sec-fetch-site']))
  return allowed.includes(origin) || (URL.canParse(origin) && new URL(origin).host === host)
}

function cookiesOf(header: string | undefined): ReadonlyMap<string, string> {
  const pairs = (header ?? '').split(';').map((pair) => pair.split('='))
  return new Map(pairs.map(([name = '', value = '']) => [name.trim(), value.trim().replaceAll('"', '')]))
}
