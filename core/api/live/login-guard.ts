import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  type AttemptResult,
  type Claim,
  digestOf,
  type Lockout,
  LoginLimit,
  limitOf,
} from '../../auth/index.ts'
import type { SaltError } from '../../base/errors.ts'
import { sameClient } from '../../base/net/same-client.ts'
import type { ApiContext } from '../context.ts'
import { sendToAuditLog } from '../denials.ts'
import { httpError } from '../http-errors.ts'
import { presentedToken } from '../identity.ts'
import { throwIfClientLeft } from '../waits.ts'
import { claimsIn, loginClaimsIn } from './credentials.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route needs no authentication: a token in the request is ignored. */
    readonly open?: true
    /** Reads the token, for routes where browsers can send it only in the URL. */
    readonly tokenOf?: (request: FastifyRequest) => string | undefined
    /** The route takes credentials only, no token: the first ones in the body, or all. */
    readonly logsIn?: 'first' | 'all'
  }
}

/**
 * A request that is still unanswered after this time has passed authentication: the rest is the call itself. Backends
 * may take some time to reject a password.
 */
const TOKEN_TIMEOUT_MS = 1000
const PASSWORD_TIMEOUT_MS = 10_000

/** Callbacks for requests whose answer does not end soon. */
const onAuthenticated = new WeakMap<FastifyRequest, () => void>()

/** Note that a request is authenticated although its answer has not ended. */
export const markAuthenticated = (request: FastifyRequest): void => onAuthenticated.get(request)?.()
/** Routes to log in at. A token in their requests, such as an expired cookie, does not matter. */
const LOGIN_ROUTES = new Map<string, 'first' | 'all'>([
  ['/login', 'first'],
  ['/token', 'all'],
])
const WITHOUT_TOKEN = [...LOGIN_ROUTES.keys(), '/run']

/**
 * Counts wrong passwords and tokens per address and per user, and locks out those who guess. A user who has logged in
 * from an address before is not locked out there by guesses of others, nor is a known token. The guard checks no credentials
 * itself: it counts the 401 answers of the master.
 */
export class LoginGuard {
  readonly #context: ApiContext
  readonly #limit: LoginLimit

  constructor(context: ApiContext) {
    this.#context = context
    this.#limit = new LoginLimit(limitOf(context.settings))
  }

  guard(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      const { routePath = '', method } = route
      if (WITHOUT_TOKEN.includes(routePath) || (/^\/?$/.test(routePath) && method !== 'POST'))
        route.config = { ...route.config, open: true }
      const logsIn = LOGIN_ROUTES.get(routePath)
      if (logsIn) route.config = { ...route.config, logsIn }
    })
    app.addHook('onRequest', async (request, reply) => {
      const token = this.#tokenOf(request)
      if (token !== undefined) await this.#admit(request, reply, [{ digest: digestOf(token) }])
    })
    app.addHook('preHandler', async (request, reply) => {
      // With a token, credentials in the body are not checked, so they must not count as right either.
      if (this.#tokenOf(request) !== undefined) return
      const claims = claimsOf(request)
      if (claims.length > 0) await this.#admit(request, reply, claims)
    })
    app.addHook('onSend', async (_request, reply) => {
      const made = reply.getHeader('x-auth-token')
      if (typeof made === 'string') this.#limit.recordToken(digestOf(made))
    })
  }

  /** Return the token that the route will use. */
  #tokenOf(request: FastifyRequest): string | undefined {
    const { open, tokenOf } = request.routeOptions.config
    if (open) return undefined
    return tokenOf ? tokenOf(request) : presentedToken(request, this.#context.settings)
  }

  async #admit(request: FastifyRequest, reply: FastifyReply, claims: readonly Claim[]): Promise<void> {
    const address = sameClient(request.ip)
    const isToken = claims.every(({ username }) => username === undefined)
    const attempts = await this.#limit.beginAll(claims, address)
    if ('locked' in attempts) throw lockedOut(reply, attempts.locked)
    const finish = (outcome: AttemptResult) => {
      for (const who of attempts.end(outcome)) this.#noteLock(who, request, claims)
    }
    if (reply.raw.destroyed) finish('unknown')
    throwIfClientLeft(reply)
    const late = () => {
      finish('unknown')
      this.#limit.recordSuccess(claims, address)
    }
    const timer = setTimeout(late, isToken ? TOKEN_TIMEOUT_MS : PASSWORD_TIMEOUT_MS).unref()
    reply.raw.once('close', () => {
      clearTimeout(timer)
      const outcome = outcomeOf(reply)
      // A client that disconnects early may have learnt enough from the time that passed: a password counts as wrong.
      finish(outcome ?? (isToken ? 'unknown' : 'failed'))
      if (outcome) this.#limit.learn(outcome, claims, address)
    })
    onAuthenticated.set(request, () => {
      finish('passed')
      this.#limit.learn('passed', claims, address)
    })
  }

  /** Log the beginning of a lock-out. Requests during it are only answered. */
  #noteLock(who: string, request: FastifyRequest, claims: readonly Claim[]): void {
    const { settings, log } = this.#context
    const reason = `Too many wrong passwords or tokens ${who}: no more are checked for ${settings.login_lockout} s.`
    log.warn(reason)
    const user = claims.find(({ username }) => username !== undefined)?.username ?? ''
    sendToAuditLog(this.#context, request, { act: 'login', user, rule: 'login_attempts', reason })
  }
}

/** Return the credentials in the body that the route will look at. */
function claimsOf({ body, routeOptions }: FastifyRequest): Claim[] {
  const { logsIn } = routeOptions.config
  if (!logsIn) return claimsIn(body)
  return loginClaimsIn(logsIn === 'first' ? [body].flat().slice(0, 1) : body)
}

function lockedOut(reply: FastifyReply, { seconds }: Lockout): SaltError {
  reply.header('Retry-After', String(seconds))
  return httpError(429, `There were too many wrong passwords or tokens. Try again in ${seconds} s.`)
}

/** Return the result of an attempt, undefined if the client disconnected before the answer. */
function outcomeOf({ raw }: FastifyReply): AttemptResult | undefined {
  if (!raw.headersSent) return undefined
  if (raw.statusCode === 401) return 'failed'
  return raw.statusCode < 300 ? 'passed' : 'unknown'
}
