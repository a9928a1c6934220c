import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { requestToken, type Token } from '../../client/local/external-auth.ts'
import { yamlify } from '../../loader/calls/words.ts'
import { checkLogIn, REFUSED } from '../addresses.ts'
import { type ApiContext, contextFor } from '../context.ts'
import { denial } from '../denials.ts'
import { COOKIE, requiredToken } from '../identity.ts'
import { permissionsOf } from '../permissions.ts'

type Members = Readonly<Record<string, unknown>>

const REVOKE_TIMEOUT_MS = 15_000

/** Masters of Python Salt cannot revoke tokens. */
const PYTHON_MASTER = 'This master cannot revoke tokens; yours stays valid until it expires.'

/** Add `/login`, `/logout` and `/token`. A session is a token of the master; this server stores none. */
export function session(app: FastifyInstance, context: ApiContext): void {
  app.get('/login', async (_, reply) => {
    reply.header('WWW-Authenticate', 'Session')
    return { status: null, return: 'Please log in' }
  })

  const few = { type: 'array', maxItems: context.settings.max_chunks }
  // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
  const schema = { body: { if: { type: 'array' }, then: few } }
  app.post('/login', { schema }, async (request, reply) => {
    const [credentials = {}] = credentialsIn(request.body)
    const made = await signIn(request, context, credentials)
    reply.header('X-Auth-Token', made.token)
    setCookie(request, reply, context, made)
    const { token, expire, start, name: user, eauth } = made
    return { return: [{ token, expire, start, user, eauth, perms: permissionsOf(made, context.config) }] }
  })

  app.post('/logout', async (request, reply) => {
    const token = requiredToken(request, context)
    const { link } = contextFor(context, request)
    const revoked = await link.ask({ cmd: '_revoke_token', token }, REVOKE_TIMEOUT_MS)
    reply.header('Set-Cookie', `${COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`)
    return { return: logoutSentence(revoked) }
  })

  app.post('/token', { schema }, async (request) => {
    const all = credentialsIn(request.body)
    all.forEach(checkCredentials)
    const made: Token[] = []
    for (const credentials of all) made.push(await signIn(request, context, credentials))
    return made
  })
}

/** Return the answer to /logout for the master's answer. Masters of Python Salt answer with neither true nor false. */
function logoutSentence(revoked: unknown): string {
  if (revoked === true) return 'Your token has been cleared'
  if (revoked === false)
    throw denial('AUTHENTICATION_FAILED', 'This token is unknown or was revoked.', { act: 'logout' })
  if (isRecord(revoked) && isRecord(revoked.error)) throw unreachable(String(revoked.error.message))
  return PYTHON_MASTER
}

/** @throws SaltError INVALID_ARGUMENTS for credentials that /token needs and lacks */
function checkCredentials({ username, password, eauth, sharedsecret }: Members): void {
  if (username === undefined || eauth === undefined || (password ?? sharedsecret) === undefined)
    throw new SaltError('INVALID_ARGUMENTS', 'Require "username", "password", and "eauth" params')
}

/** Return the credentials in a body: one map, or a list of maps. */
function credentialsIn(body: unknown): Members[] {
  const given = [body].flat()
  if (given.length > 0 && given.every(isRecord)) return given
  throw new SaltError('INVALID_ARGUMENTS', 'Sign in with a map of username, password and eauth.')
}

async function signIn(request: FastifyRequest, context: ApiContext, credentials: Members): Promise<Token> {
  const { token_expire, username } = credentials
  const denied = { act: 'login', ...(typeof username === 'string' && { user: username }) } as const
  checkLogIn(username, request.ip, context.settings, denied)
  const { ask } = contextFor(context, request).link
  const asked = typeof token_expire === 'string' ? { token_expire: yamlify(token_expire) } : {}
  try {
    const made = await requestToken(ask, { ...credentials, ...asked })
    await checkOwner(made)
    return made
  } catch (error) {
    const isRefused = SaltError.is(error) && error.code === 'AUTHENTICATION_FAILED'
    throw isRefused ? new SaltError(error.code, REFUSED, error.data) : error
  }

  /** Check the user whom the backend has found, who may have another name than was given. */
  async function checkOwner({ name, token }: Token): Promise<void> {
    try {
      checkLogIn(name ?? username, request.ip, context.settings, denied)
    } catch (error) {
      await ask({ cmd: '_revoke_token', token }, REVOKE_TIMEOUT_MS)
      throw error
    }
  }
}

/** Set the session cookie, out of reach of scripts and of other sites. */
function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { settings }: ApiContext,
  made: Token,
): void {
  if (!settings.enable_sessions) return
  const age = Math.max(0, Math.trunc(Number(made.expire) - Date.now() / 1000)) || 0
  const secure = request.protocol === 'https' ? '; Secure' : ''
  reply.header(
    'Set-Cookie',
    `${COOKIE}=${made.token}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`,
  )
}

const unreachable = (reason: string): SaltError => new SaltError('MASTER_UNREACHABLE', reason, { reason })
