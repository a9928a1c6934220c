/** The supervisor counts wrong passwords for all workers, so that guesses sent to different workers are counted together. */
import type { AttemptResult } from '../../auth/login/attempts.ts'
import { type Claim, digestOf } from '../../auth/login/claim.ts'
import type { Attempt, Lockout, Logins } from '../../auth/login/limit.ts'
import { deferred } from '../../base/deferred.ts'
import { SaltError } from '../../base/errors.ts'
import { withTimeout } from '../../base/with-timeout.ts'

/** Message from a worker; `number` identifies the attempt within that worker. */
export type ToLoginLimit =
  | {
      readonly type: 'log_in'
      readonly number: number
      readonly claim: Claim
      readonly place: string | undefined
    }
  | { readonly type: 'logged_in'; readonly number: number; readonly outcome: AttemptResult }

/** Answer to that worker: whether the password may be checked. */
export interface FromLoginLimit {
  readonly type: 'may_log_in'
  readonly number: number
  readonly locked?: Lockout
}

/** The supervisor's end of the connection to one worker. */
export class LoginLimitServer {
  readonly #limit: Logins
  readonly #answer: (message: FromLoginLimit) => void
  readonly #open = new Map<number, Attempt>()
  #gone = false

  constructor(limit: Logins, answer: (message: FromLoginLimit) => void) {
    this.#limit = limit
    this.#answer = answer
  }

  async take(message: ToLoginLimit): Promise<void> {
    const { number } = message
    if (message.type === 'logged_in') {
      this.#open.get(number)?.end(message.outcome)
      this.#open.delete(number)
      return
    }
    const { claim, place } = message
    const begun = await this.#limit.begin({ ...claim, digest: digestOf(claim.digest) }, place)
    if ('locked' in begun) return this.#answer({ type: 'may_log_in', number, locked: begun.locked })
    if (this.#gone) return void begun.end('failed')
    this.#open.set(number, begun)
    this.#answer({ type: 'may_log_in', number })
  }

  /** The worker ended: its open attempts count as failed. */
  close(): void {
    this.#gone = true
    for (const attempt of this.#open.values()) attempt.end('failed')
    this.#open.clear()
  }
}

/** How long a worker waits for the log-in limit: each earlier attempt may take as long as its backend. */
const MAX_WAIT_MS = 25_000

/** A worker's end of the connection to the supervisor. */
export class LoginLimitClient implements Logins {
  readonly #tell: (message: ToLoginLimit) => void
  readonly #waiting = new Map<number, (answer: FromLoginLimit) => void>()
  #number = 0

  constructor(tell: (message: ToLoginLimit) => void) {
    this.#tell = tell
  }

  async begin(claim: Claim, place?: string): Promise<Attempt | { readonly locked: Lockout }> {
    const number = this.#number++
    const answered = deferred<FromLoginLimit>()
    this.#waiting.set(number, answered.resolve)
    this.#tell({ type: 'log_in', number, claim, place })
    try {
      const { locked } = await withTimeout(answered.promise, MAX_WAIT_MS, () => LATE)
      return locked ? { locked } : { end: (outcome) => this.#end(number, outcome) }
    } finally {
      this.#waiting.delete(number)
    }
  }

  take(answer: FromLoginLimit): void {
    const hear = this.#waiting.get(answer.number)
    if (hear) hear(answer)
    else if (!answer.locked) this.#end(answer.number, 'unknown') // it has timed out here
  }

  #end(number: number, outcome: AttemptResult): readonly string[] {
    this.#tell({ type: 'logged_in', number, outcome })
    return []
  }
}

const LATE = new SaltError('TIMEOUT', 'earlier log-ins are still being checked; try again in a moment')
