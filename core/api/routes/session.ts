import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SaltError } from '../../base/errors.ts'
import { askForToken, type Token } from '../../client/external-auth.ts'
import { yamlify } from '../../loader/words.ts'
import { isRecord } from '../../wire/bytes.ts'
import { maySignIn } from '../addresses.ts'
import { type Denied, denial } from '../denials.ts'
import { COOKIE, tokenOf } from '../identity.ts'
import { permissionsOf } from '../permissions.ts'
import { type ApiRoom, roomFor } from '../room.ts'

type Members = Readonly<Record<string, unknown>>

const REVOKE_MS = 15_000

/** Masters of Python Salt have no command for it. */
const PYTHON_MASTER = 'This master cannot revoke tokens. Forget yours; it ends when it expires.'

/** `/login`, `/logout` and `/token`. A session is a token of the master: this server keeps none. */
export function session(app: FastifyInstance, room: ApiRoom): void {
  app.get('/login', async (_, reply) => {
    reply.header('WWW-Authenticate', 'Session')
    return { status: null, return: 'Please log in' }
  })

  const few = { type: 'array', maxItems: room.settings.max_chunks }
  // biome-ignore lint/suspicious/noThenProperty: the word of JSON Schema
  const schema = { body: { if: { type: 'array' }, then: few } }
  app.post('/login', { schema }, async (request, reply) => {
    const [credentials = {}] = credentialsIn(request.body)
    const made = await signIn(request, room, credentials)
    reply.header('X-Auth-Token', made.token)
    setCookie(request, reply, room, made)
    const { token, expire, start, name: user, eauth } = made
    return { return: [{ token, expire, start, user, eauth, perms: permissionsOf(made, room.config) }] }
  })

  app.post('/logout', async (request, reply) => {
    const token = tokenOf(request, room)
    const done = await roomFor(room, request).link.ask({ cmd: '_revoke_token', token }, REVOKE_MS)
    reply.header('Set-Cookie', `${COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`)
    if (done === true) return { return: 'Your token has been cleared' }
    if (done === false)
      throw denial('AUTHENTICATION_FAILED', 'This token is not known, or no longer.', { act: 'logout' })
    if (isRecord(done) && isRecord(done.error)) throw unreachable(String(done.error.message))
    return { return: PYTHON_MASTER }
  })

  app.post('/token', { schema }, async (request) => {
    const all = credentialsIn(request.body)
    for (const { username, password, eauth, sharedsecret } of all) {
      if (username === undefined || eauth === undefined || (password ?? sharedsecret) === undefined)
        throw new SaltError('INVALID_ARGUMENTS', 'Require "username", "password", and "eauth" params')
    }
    const made: Token[] = []
    for (const credentials of all) made.push(await signIn(request, room, credentials))
    return made
  })
}

/** One map of credentials, or a list of them. */
function credentialsIn(body: unknown): Members[] {
  const given = [body].flat()
  if (given.length > 0 && given.every(isRecord)) return given
  throw new SaltError('INVALID_ARGUMENTS', 'Sign in with a map of username, password and eauth.')
}

async function signIn(request: FastifyRequest, room: ApiRoom, credentials: Members): Promise<Token> {
  const { token_expire } = credentials
  const refused = 'Could not authenticate using provided credentials'
  if (!maySignIn(credentials.username, request.ip, room.settings))
    throw denial('AUTHENTICATION_FAILED', refused, notFromThere(credentials))
  const asked = typeof token_expire === 'string' ? { token_expire: yamlify(token_expire) } : {}
  try {
    return await askForToken(roomFor(room, request).link.ask, { ...credentials, ...asked })
  } catch (error) {
    const isRefused = SaltError.is(error) && error.code === 'AUTHENTICATION_FAILED'
    throw isRefused ? new SaltError(error.code, refused) : error
  }
}

const notFromThere = ({ username }: Members): Denied => ({
  ...{ act: 'login', rule: 'api_acl', reason: 'api_acl does not let this user sign in from there.' },
  ...(typeof username === 'string' && { user: username }),
})

/** Out of reach of scripts, and of other sites. */
function setCookie(request: FastifyRequest, reply: FastifyReply, { settings }: ApiRoom, made: Token): void {
  if (!settings.enable_sessions) return
  const age = Math.max(0, Math.trunc(Number(made.expire) - Date.now() / 1000)) || 0
  const secure = request.protocol === 'https' ? '; Secure' : ''
  reply.header(
    'Set-Cookie',
    `${COOKIE}=${made.token}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secure}`,
  )
}

const unreachable = (reason: string): SaltError => new SaltError('MASTER_UNREACHABLE', reason, { reason })
