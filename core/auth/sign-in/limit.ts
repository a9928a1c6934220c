import { type AttemptSettings, Attempts, type Outcome, type Tell } from './attempts.ts'
import { accountOf, type Claim, digestOf } from './claim.ts'
import { Recent } from './recent.ts'

/** As the options of a master or of a server say. */
export const limitOf = (options: {
  readonly login_attempts: number
  readonly login_lockout: number
}): AttemptSettings => ({ limit: options.login_attempts, lockMs: options.login_lockout * 1000 })

export interface Locked {
  /** The user or address with too many wrong guesses: `for "fred"`, `from 192.0.2.1`. */
  readonly who: string
  /** How long none is looked at, in seconds. */
  readonly seconds: number
}

/** An attempt that may be made. */
export interface Attempt {
  /** Say what came of it, once. Gives who has to wait from now on. */
  end(outcome: Outcome): readonly string[]
}

/** How somebody is let try a password, in this process or another one. Rejects with the reason if that cannot be found out. */
export interface SignIns {
  begin(claim: Claim, place?: string): Promise<Attempt | { readonly locked: Locked }>
}

/**
 * Counts wrong passwords and tokens by place (an address) and by user, and lets whoever guesses wait. Who has been right at a place
 * before is not kept out there by those who guess elsewhere. Knows nobody itself: it is told what came of each attempt.
 */
export class SignInLimit implements SignIns {
  readonly #attempts: Attempts
  /** Digests of what was right, and of `user@place`; and of what was wrong. */
  readonly #right = new Recent()
  readonly #wrong = new Recent()

  constructor(settings: AttemptSettings) {
    this.#attempts = new Attempts(settings)
  }

  async begin(claim: Claim, place?: string): Promise<Attempt | { readonly locked: Locked }> {
    const begun = await this.beginAll([claim], place)
    if ('locked' in begun) return begun
    return {
      end: (outcome) => {
        this.learn(outcome, [claim], place)
        return begun.end(outcome)
      },
    }
  }

  /** All claims of one request; what is learnt of them is to be told besides. Without a place it is one that many share. */
  async beginAll(claims: readonly Claim[], place?: string): Promise<Attempt | { readonly locked: Locked }> {
    const tells: { readonly who: string; readonly tell: Tell }[] = []
    const end = (outcome: Outcome) =>
      tells
        .splice(0)
        .filter(({ tell }) => tell(outcome))
        .map(({ who }) => who)
    const isKnown = () => claims.every((claim) => this.#isRight(claim, place))
    for (const [who, guesses] of this.#guesses(claims, place)) {
      const tell = await this.#attempts.begin(who, guesses, isKnown)
      if (!tell) {
        end('unknown')
        const seconds = Math.max(1, Math.ceil(this.#attempts.lockedFor(who) / 1000))
        return { locked: { who, seconds } }
      }
      tells.push({ who, tell })
    }
    return { end }
  }

  learn(outcome: Outcome, claims: readonly Claim[], place?: string): void {
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

  /** Their answer takes so long that they were not refused. */
  believe(claims: readonly Claim[], place: string): void {
    for (const claim of claims) if (!this.#wrong.has(claim.digest)) this.#right.add(rightOf(claim, place))
  }

  /** A token that was made. */
  knows(digest: string): void {
    this.#right.add(digest)
  }

  /**
   * On whose account the claims are guesses, and how many. The same wrong one again is no new guess: a program that goes
   * on with a token of yesterday keeps nobody else out.
   */
  #guesses(claims: readonly Claim[], place: string | undefined): Map<string, number> {
    const guesses = new Map<string, number>()
    const add = (who: string) => guesses.set(who, (guesses.get(who) ?? 0) + 1)
    for (const claim of claims) {
      const { digest, username } = claim
      if (this.#isRight(claim, place)) continue
      if (this.#wrong.has(digest)) add(`(the same one, ${digest.slice(0, 8)}…)`)
      else {
        if (place !== undefined) add(from(place))
        const isAtHome =
          username !== undefined && place !== undefined && this.#right.has(placeOf(username, place))
        if (username !== undefined && !isAtHome) add(forUser(username))
      }
    }
    return guesses
  }

  /** A password does not get past a lock by being right: that would tell whoever guesses. No one guesses a token. */
  #isRight(claim: Claim, place: string | undefined): boolean {
    if (!this.#right.has(rightOf(claim, place))) return false
    if (claim.username === undefined) return true
    return this.#attempts.lockedFor(place === undefined ? forUser(claim.username) : from(place)) === 0
  }
}

const from = (place: string): string => `from ${place}`
const forUser = (username: string): string => `for ${JSON.stringify(accountOf(username))}`

/** What stands for a claim that was right: a password is so for one place. */
const rightOf = ({ digest, username }: Claim, place = ''): string =>
  username === undefined ? digest : `${digest} ${place}`

const placeOf = (username: string, place: string): string => digestOf(`${accountOf(username)}@${place}`)
