/** Who asks, as the request says; the master decides whether that is so. */
import type { FastifyRequest } from 'fastify'
import type { ExternalAuth } from '../client/external-auth.ts'
import { type Chunk, CREDENTIALS } from './chunk.ts'
import { type Denied, denial, deniedOf } from './denials.ts'
import type { ApiRoom } from './room.ts'
import type { ApiSettings } from './settings.ts'

export const COOKIE = 'session_id'

const nobody = (denied?: Denied) =>
  denial('AUTHENTICATION_FAILED', 'No authentication credentials given', denied)

/** What a request brings as its token, `X-Auth-Token` before the cookie, whether that may be used or not. */
export function tokenBrought(
  { headers }: FastifyRequest,
  { enable_sessions }: Pick<ApiSettings, 'enable_sessions'>,
): string | undefined {
  const token = headers['x-auth-token'] || (enable_sessions && cookiesOf(headers.cookie).get(COOKIE))
  return typeof token === 'string' && token !== '' ? token : undefined
}

/**
 * The token of a request.
 * @throws SaltError AUTHENTICATION_FAILED if there is none or it cannot be one; with status 403 for a page of elsewhere
 */
export function tokenOf(request: FastifyRequest, room: ApiRoom): string {
  const token = tokenIfAny(request, room)
  if (token === undefined) throw nobody()
  return token
}

/** Undefined if the request has none. */
export function tokenIfAny(request: FastifyRequest, { settings }: ApiRoom): string | undefined {
  const token = tokenBrought(request, settings)
  if (token === undefined) return undefined
  if (!request.headers['x-auth-token']) refuseForeignPage(request, settings.cors_origin)
  return checkedToken(token)
}

/** Of a chunk: the token of the request, its own, or credentials. */
export function authOf(chunk: Chunk, token: string | undefined): ExternalAuth {
  if (token !== undefined) return { token }
  if (typeof chunk.token === 'string') return { token: checkedToken(chunk.token, deniedOf(chunk)) }
  const { eauth, username = '' } = chunk
  if (typeof eauth !== 'string') throw nobody(deniedOf(chunk))
  const given = CREDENTIALS.filter((name) => chunk[name] !== undefined)
  const credentials = Object.fromEntries(given.map((name) => [name, chunk[name]]))
  return { ...credentials, eauth, username: String(username) }
}

/** Tokens are hexadecimal: nothing else is asked the master about. */
function checkedToken(token: string, denied?: Denied): string {
  if (/^[\da-fA-F]{1,256}$/.test(token)) return token
  throw denial('AUTHENTICATION_FAILED', 'Invalid token', denied)
}

/** Browsers send cookies with whatever a page makes them ask: only pages that may use this server count. */
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
