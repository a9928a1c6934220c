import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { SaltError } from '../../base/errors.ts'
import { checkPresence } from '../calling.ts'
import { tellMaster } from '../denials.ts'
import { tokenBrought } from '../identity.ts'
import { refusal } from '../problems.ts'
import type { ApiRoom } from '../room.ts'
import { sameClient } from './address.ts'
import { Attempts, type Outcome, type Tell } from './attempts.ts'
import { type Claim, claimsIn, digestOf, signInsIn } from './credentials.ts'
import { Recent } from './recent.ts'

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
  readonly #attempts: Attempts
  /** Digests of what was right, and of `user@address`; and of what was wrong. */
  readonly #right = new Recent()
  readonly #wrong = new Recent()

  constructor(room: ApiRoom) {
    const { login_attempts: limit, login_lockout: seconds } = room.settings
    this.#room = room
    this.#attempts = new Attempts({ limit, lockMs: seconds * 1000 })
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
      if (typeof made === 'string') this.#right.add(digestOf(made))
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
    const ends: { readonly who: string; readonly tell: Tell }[] = []
    let timer: NodeJS.Timeout | undefined
    const end = (outcome: Outcome) => {
      const locked = ends.splice(0).filter(({ tell }) => tell(outcome))
      for (const { who } of locked) this.#noteLock(who, request, claims)
    }
    reply.raw.once('close', () => {
      clearTimeout(timer)
      const outcome = outcomeOf(reply)
      // Who leaves early may know enough: that a wrong password would have been refused later, or sooner.
      end(outcome ?? (isToken ? 'unknown' : 'failed'))
      if (outcome) this.#learn(outcome, claims, address)
    })
    passing.set(request, () => {
      end('passed')
      this.#learn('passed', claims, address)
    })
    const isKnown = () => claims.every((claim) => this.#isRight(claim, address))
    for (const [who, guesses] of this.#guesses(claims, address)) {
      const tell = await this.#attempts.begin(who, guesses, isKnown)
      if (!tell) throw this.#lockedOut(reply, who)
      ends.push({ who, tell })
      if (reply.raw.destroyed) end('unknown')
      checkPresence(reply)
    }
    timer = setTimeout(() => this.#giveUp(end, claims, address), isToken ? TOKEN_MS : PASSWORD_MS).unref()
  }

  #giveUp(end: (outcome: Outcome) => void, claims: readonly Claim[], address: string): void {
    end('unknown')
    for (const claim of claims) if (!this.#wrong.has(claim.digest)) this.#right.add(rightOf(claim, address))
  }

  /**
   * On whose account the claims are guesses, and how many. The same wrong one again is no new guess: a program that goes
   * on with a token of yesterday keeps nobody else out.
   */
  #guesses(claims: readonly Claim[], address: string): Map<string, number> {
    const guesses = new Map<string, number>()
    const add = (who: string) => guesses.set(who, (guesses.get(who) ?? 0) + 1)
    for (const claim of claims) {
      const { digest, username } = claim
      if (this.#isRight(claim, address)) continue
      if (this.#wrong.has(digest)) add(`(the same one, ${digest.slice(0, 8)}…)`)
      else {
        add(fromAddress(address))
        if (username !== undefined && !this.#right.has(placeOf(username, address)))
          add(`for ${JSON.stringify(username.slice(0, 256))}`)
      }
    }
    return guesses
  }

  /** A password does not get past a lock by being right: that would tell whoever guesses. No one guesses a token. */
  #isRight(claim: Claim, address: string): boolean {
    if (!this.#right.has(rightOf(claim, address))) return false
    return claim.username === undefined || this.#attempts.lockedFor(fromAddress(address)) === 0
  }

  #lockedOut(reply: FastifyReply, who: string): SaltError {
    const seconds = Math.max(1, Math.ceil(this.#attempts.lockedFor(who) / 1000))
    reply.header('Retry-After', String(seconds))
    return refusal(429, `There were too many wrong passwords or tokens. Try again in ${seconds} s.`)
  }

  /** Once: what is not looked at meanwhile is only answered. */
  #noteLock(who: string, request: FastifyRequest, claims: readonly Claim[]): void {
    const { settings, log } = this.#room
    const reason = `Too many wrong passwords or tokens ${who}: no more are looked at for ${settings.login_lockout} s.`
    log.warn(reason)
    const user = claims.find(({ username }) => username !== undefined)?.username ?? ''
    tellMaster(this.#room, request, { act: 'login', user, rule: 'login_attempts', reason })
  }

  #learn(outcome: Outcome, claims: readonly Claim[], address: string): void {
    for (const claim of claims) {
      const { digest, username } = claim
      if (outcome === 'failed') {
        this.#right.delete(rightOf(claim, address))
        this.#wrong.add(digest)
      }
      if (outcome !== 'passed') continue
      this.#wrong.delete(digest)
      this.#right.add(rightOf(claim, address))
      if (username !== undefined) this.#right.add(placeOf(username, address))
    }
  }
}

/** Undefined if the client has left before it was answered. */
function outcomeOf({ raw }: FastifyReply): Outcome | undefined {
  if (!raw.headersSent) return undefined
  if (raw.statusCode === 401) return 'failed'
  return raw.statusCode < 300 ? 'passed' : 'unknown'
}

const fromAddress = (address: string): string => `from ${address}`

/** What stands for a claim that was right: a password is so for one address. */
const rightOf = ({ digest, username }: Claim, address: string): string =>
  username === undefined ? digest : `${digest} ${address}`

const placeOf = (username: string, address: string): string => digestOf(`${username}@${address}`)
