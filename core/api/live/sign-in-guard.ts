import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Claim, digestOf, type Locked, limitOf, type Outcome, SignInLimit } from '../../auth/index.ts'
import type { SaltError } from '../../base/errors.ts'
import { sameClient } from '../../base/same-client.ts'
import { checkPresence } from '../calling.ts'
import { tellMaster } from '../denials.ts'
import { tokenBrought } from '../identity.ts'
import { refusal } from '../problems.ts'
import type { ApiRoom } from '../room.ts'
import { claimsIn, signInsIn } from './credentials.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Nobody has to say who they are: a token that comes along is not looked at. */
    readonly open?: true
    /** The token, where a browser can only put it into the address. */
    readonly tokenOf?: (request: FastifyRequest) => string | undefined
    /** Credentials are what it takes, and no token. */
    readonly signsIn?: true
  }
}

/**
 * An attempt that is not answered after so long did not fail at the door: the call itself takes its time. Backends may
 * take some for a wrong password. Milliseconds.
 */
const TOKEN_MS = 1000
const PASSWORD_MS = 10_000

/** What ends the attempts of a request whose answer does not end soon. */
const passing = new WeakMap<FastifyRequest, () => void>()

/** Who asks has proved who they are, though the answer goes on. */
export const passed = (request: FastifyRequest): void => passing.get(request)?.()
/** Where one signs in: a token that comes along, perhaps in a cookie of yesterday, does not matter. */
const SIGN_IN = ['/login', '/token']
const WITHOUT_TOKEN = [...SIGN_IN, '/run']

/**
 * Counts wrong passwords and tokens, by address and by user, and lets whoever guesses wait. Who has been right from an
 * address before is not kept out by those who guess from elsewhere, and no token that is known by those at its own
 * address. Knows nobody itself: the master decides, and its 401 is what is counted.
 */
export class SignInGuard {
  readonly #room: ApiRoom
  readonly #limit: SignInLimit

  constructor(room: ApiRoom) {
    this.#room = room
    this.#limit = new SignInLimit(limitOf(room.settings))
  }

  guard(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      const { routePath = '', method } = route
      if (WITHOUT_TOKEN.includes(routePath) || (/^\/?$/.test(routePath) && method !== 'POST'))
        route.config = { ...route.config, open: true }
      if (SIGN_IN.includes(routePath)) route.config = { ...route.config, signsIn: true }
    })
    app.addHook('onRequest', async (request, reply) => {
      const token = this.#tokenOf(request)
      if (token !== undefined) await this.#admit(request, reply, [{ digest: digestOf(token) }])
    })
    app.addHook('preHandler', async (request, reply) => {
      // Beside a token nobody looks at what the body claims: that it was right would be learnt of any password.
      if (this.#tokenOf(request) !== undefined) return
      const read = request.routeOptions.config.signsIn ? signInsIn : claimsIn
      const claims = read(request.body)
      if (claims.length > 0) await this.#admit(request, reply, claims)
    })
    app.addHook('onSend', async (_request, reply) => {
      const made = reply.getHeader('x-auth-token')
      if (typeof made === 'string') this.#limit.knows(digestOf(made))
    })
  }

  /** The token that the route will look at. */
  #tokenOf(request: FastifyRequest): string | undefined {
    const { open, tokenOf } = request.routeOptions.config
    if (open) return undefined
    return tokenOf ? tokenOf(request) : tokenBrought(request, this.#room.settings)
  }

  async #admit(request: FastifyRequest, reply: FastifyReply, claims: readonly Claim[]): Promise<void> {
    const address = sameClient(request.ip)
    const isToken = claims.every(({ username }) => username === undefined)
    const begun = await this.#limit.beginAll(claims, address)
    if ('locked' in begun) throw lockedOut(reply, begun.locked)
    const end = (outcome: Outcome) => {
      for (const who of begun.end(outcome)) this.#noteLock(who, request, claims)
    }
    if (reply.raw.destroyed) end('unknown')
    checkPresence(reply)
    const late = () => {
      end('unknown')
      this.#limit.believe(claims, address)
    }
    const timer = setTimeout(late, isToken ? TOKEN_MS : PASSWORD_MS).unref()
    reply.raw.once('close', () => {
      clearTimeout(timer)
      const outcome = outcomeOf(reply)
      // Who leaves early may know enough: that a wrong password would have been refused later, or sooner.
      end(outcome ?? (isToken ? 'unknown' : 'failed'))
      if (outcome) this.#limit.learn(outcome, claims, address)
    })
    passing.set(request, () => {
      end('passed')
      this.#limit.learn('passed', claims, address)
    })
  }

  /** Once: what is not looked at meanwhile is only answered. */
  #noteLock(who: string, request: FastifyRequest, claims: readonly Claim[]): void {
    const { settings, log } = this.#room
    const reason = `Too many wrong passwords or tokens ${who}: no more are looked at for ${settings.login_lockout} s.`
    log.warn(reason)
    const user = claims.find(({ username }) => username !== undefined)?.username ?? ''
    tellMaster(this.#room, request, { act: 'login', user, rule: 'login_attempts', reason })
  }
}

function lockedOut(reply: FastifyReply, { seconds }: Locked): SaltError {
  reply.header('Retry-After', String(seconds))
  return refusal(429, `There were too many wrong passwords or tokens. Try again in ${seconds} s.`)
}

/** Undefined if the client has left before it was answered. */
function outcomeOf({ raw }: FastifyReply): Outcome | undefined {
  if (!raw.headersSent) return undefined
  if (raw.statusCode === 401) return 'failed'
  return raw.statusCode < 300 ? 'passed' : 'unknown'
}
