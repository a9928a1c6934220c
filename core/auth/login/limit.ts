import { type AttemptResult, type AttemptSettings, Attempts, type OnLockout } from './attempts.ts'
import { accountOf, type Claim, digestOf } from './claim.ts'
import { RecentSet } from './recent-set.ts'

/** Return the limits in the options of a master or an API server. */
export const limitOf = (options: {
  readonly login_attempts: number
  readonly login_lockout: number
}): AttemptSettings => ({ limit: options.login_attempts, lockMs: options.login_lockout * 1000 })

export interface Lockout {
  /** The user or address with too many wrong guesses: `for "fred"`, `from 192.0.2.1`, `for "fred" from 192.0.2.1`. */
  readonly who: string
  /** Duration of the lockout in seconds. */
  readonly seconds: number
}

/** A permitted attempt. */
export interface Attempt {
  /** End the attempt with its result; call it once. Returns the users and addresses that are locked out from now on. */
  end(outcome: AttemptResult): readonly string[]
}

/** The limiter of log-ins, in this process or another one. Rejects with the reason if it cannot be reached. */
export interface Logins {
  begin(claim: Claim, place?: string): Promise<Attempt | { readonly locked: Lockout }>
}

/**
 * Counts wrong passwords and tokens by place (an address) and by user, and locks out whoever guesses. Guesses for a user at a place where
 * they have logged in before count for themselves: others, there or elsewhere, do not lock the user out there. It does not check anything
 * itself: it is given the results.
 */
export class LoginLimit implements Logins {
  readonly #attempts: Attempts
  /** Digests of correct claims, and of `user@place`. */
  readonly #right = new RecentSet()
  /** Digests of wrong claims. */
  readonly #wrong = new RecentSet()

  constructor(settings: AttemptSettings) {
    this.#attempts = new Attempts(settings)
  }

  async begin(claim: Claim, place?: string): Promise<Attempt | { readonly locked: Lockout }> {
    const begun = await this.beginAll([claim], place)
    if ('locked' in begun) return begun
    return {
      end: (outcome) => {
        this.learn(outcome, [claim], place)
        return begun.end(outcome)
      },
    }
  }

  /**
   * Begin an attempt with all claims of one request. Results are passed to `learn` separately. Attempts without a place count
   * together.
   */
  async beginAll(claims: readonly Claim[], place?: string): Promise<Attempt | { readonly locked: Lockout }> {
    const begun: { readonly who: string; readonly end: OnLockout }[] = []
    const end = (outcome: AttemptResult) => {
      const lockedOut: string[] = []
      for (const attempt of begun.splice(0)) if (attempt.end(outcome)) lockedOut.push(attempt.who)
      return lockedOut
    }
    const isKnown = () => claims.every((claim) => this.#isRight(claim, place))
    for (const [who, guesses] of this.#guesses(claims, place)) {
      const endOne = await this.#attempts.begin(who, guesses, isKnown)
      if (!endOne) {
        end('unknown')
        const seconds = Math.max(1, Math.ceil(this.#attempts.lockedFor(who) / 1000))
        return { locked: { who, seconds } }
      }
      begun.push({ who, end: endOne })
    }
    return { end }
  }

  learn(outcome: AttemptResult, claims: readonly Claim[], place?: string): void {
    for (const claim of claims) {
      const { digest, username } = claim
      if (outcome === 'failed') {
        this.#right.delete(rightOf(claim, place))
        this.#wrong.add(digest)
      }
      if (outcome !== 'passed') continue
      this.#wrong.delete(digest)
      this.#right.add(rightOf(claim, place))
      if (username !== undefined && place !== undefined) this.#right.add(placeOf(username, place))
    }
  }

  /** Record claims as correct if their reply stays open: a refusal would have come at once. */
  recordSuccess(claims: readonly Claim[], place: string): void {
    for (const claim of claims) if (!this.#wrong.has(claim.digest)) this.#right.add(rightOf(claim, place))
  }

  /** Record a token that was made. */
  recordToken(digest: string): void {
    this.#right.add(digest)
  }

  /**
   * Return whom the claims count against, and how many guesses they are. Repeating the same wrong claim is not a new guess: a program that
   * keeps using an expired token locks out nobody else.
   */
  #guesses(claims: readonly Claim[], place: string | undefined): Map<string, number> {
    const guesses = new Map<string, number>()
    const add = (who: string) => guesses.set(who, (guesses.get(who) ?? 0) + 1)
    for (const claim of claims) {
      const { digest, username } = claim
      if (this.#isRight(claim, place)) continue
      if (this.#wrong.has(digest)) add(`(the same one, ${digest.slice(0, 8)}…)`)
      else for (const who of this.#countedFor(username, place)) add(who)
    }
    return guesses
  }

  /** Return whom a guess counts against: the user at a place where they have logged in before, else the place and the user. */
  #countedFor(username: string | undefined, place: string | undefined): string[] {
    const isAtHome =
      username !== undefined && place !== undefined && this.#right.has(placeOf(username, place))
    if (isAtHome) return [`${forUser(username)} ${from(place)}`]
    return [
      ...(place === undefined ? [] : [from(place)]),
      ...(username === undefined ? [] : [forUser(username)]),
    ]
  }

  /** Whether a claim was correct before. A correct password does not pass a lock: that would confirm a guess. Tokens cannot be guessed. */
  #isRight(claim: Claim, place: string | undefined): boolean {
    const { username } = claim
    if (!this.#right.has(rightOf(claim, place))) return false
    const [who] = this.#countedFor(username, place)
    return username === undefined || who === undefined || this.#attempts.lockedFor(who) === 0
  }
}

const from = (place: string): string => `from ${place}`
const forUser = (username: string): string => `for ${JSON.stringify(accountOf(username))}`

/** Return the key of a correct claim. A password is remembered for one place only. */
const rightOf = ({ digest, username }: Claim, place = ''): string =>
  username === undefined ? digest : `${digest} ${place}`

const placeOf = (username: string, place: string): string => digestOf(`${accountOf(username)}@${place}`)
