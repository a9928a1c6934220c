/** Workers let the supervisor count wrong passwords: guesses that come to different workers are counted together. */
import type { Outcome } from '../auth/sign-in/attempts.ts'
import { type Claim, digestOf } from '../auth/sign-in/claim.ts'
import type { Attempt, Locked, SignIns } from '../auth/sign-in/limit.ts'
import { deferred } from '../base/deferred.ts'
import { SaltError } from '../base/errors.ts'

/** From a worker. Numbers are its own. */
export type ToDesk =
  | {
      readonly type: 'sign_in'
      readonly number: number
      readonly claim: Claim
      readonly place: string | undefined
    }
  | { readonly type: 'signed_in'; readonly number: number; readonly outcome: Outcome }

/** To that worker: it may be tried, or not. */
export interface FromDesk {
  readonly type: 'may_sign_in'
  readonly number: number
  readonly locked?: Locked
}

/** In the supervisor, for one worker. */
export class SignInDesk {
  readonly #limit: SignIns
  readonly #answer: (message: FromDesk) => void
  readonly #open = new Map<number, Attempt>()
  #gone = false

  constructor(limit: SignIns, answer: (message: FromDesk) => void) {
    this.#limit = limit
    this.#answer = answer
  }

  async take(message: ToDesk): Promise<void> {
    const { number } = message
    if (message.type === 'signed_in') {
      this.#open.get(number)?.end(message.outcome)
      this.#open.delete(number)
      return
    }
    const { claim, place } = message
    const begun = await this.#limit.begin({ ...claim, digest: digestOf(claim.digest) }, place)
    if ('locked' in begun) return this.#answer({ type: 'may_sign_in', number, locked: begun.locked })
    if (this.#gone) return void begun.end('failed')
    this.#open.set(number, begun)
    this.#answer({ type: 'may_sign_in', number })
  }

  /** The worker ended: what it was about to find out counts as wrong. */
  close(): void {
    this.#gone = true
    for (const attempt of this.#open.values()) attempt.end('failed')
    this.#open.clear()
  }
}

/** How long a worker waits for the desk: each attempt before its own may take as long as a backend may. Milliseconds. */
const PATIENCE_MS = 25_000

/** In a worker. */
export class DeskedSignIns implements SignIns {
  readonly #tell: (message: ToDesk) => void
  readonly #waiting = new Map<number, (answer: FromDesk) => void>()
  #number = 0

  constructor(tell: (message: ToDesk) => void) {
    this.#tell = tell
  }

  async begin(claim: Claim, place?: string): Promise<Attempt | { readonly locked: Locked }> {
    const number = this.#number++
    const answered = deferred<FromDesk>()
    this.#waiting.set(number, answered.resolve)
    const timer = setTimeout(() => answered.reject(LATE), PATIENCE_MS)
    this.#tell({ type: 'sign_in', number, claim, place })
    try {
      const { locked } = await answered.promise
      return locked ? { locked } : { end: (outcome) => this.#end(number, outcome) }
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(number)
    }
  }

  take(answer: FromDesk): void {
    const hear = this.#waiting.get(answer.number)
    if (hear) hear(answer)
    else if (!answer.locked) this.#end(answer.number, 'unknown') // nobody waits for it any more
  }

  #end(number: number, outcome: Outcome): readonly string[] {
    this.#tell({ type: 'signed_in', number, outcome })
    return []
  }
}

const LATE = new SaltError('TIMEOUT', 'other attempts to sign in are not done yet')
