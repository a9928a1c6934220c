import { setTimeout as delay } from 'node:timers/promises'
import type { PeerPublish } from '../../wire/peer-request.ts'
import type { WorkerContext } from './context.ts'

/** The longest wait: less than the deadline of a request. */
const MAX_WAIT_SECONDS = 40
/** Limits the requests that wait in one worker at once; further ones are answered at once with the returns so far. */
const MAX_WAITING = 64
const POLL_MS = 100

interface Job {
  readonly jid: string
  readonly minions: readonly string[]
}

/** Waits for the returns of jobs that minions have published (`minion_publish`). */
export class PeerWaits {
  readonly #jobs: WorkerContext['jobs']
  #waiting = 0

  constructor({ jobs }: Pick<WorkerContext, 'jobs'>) {
    this.#jobs = jobs
  }

  /** Return minion → value; with `full` minion → its whole return, and the job's id as `__jid__`. */
  async returns(job: Job, { timeout = 0, full }: Pick<PeerPublish, 'timeout' | 'full'>): Promise<object> {
    if (job.jid === '') return {}
    if (this.#waiting < MAX_WAITING) await this.#wait(job, Math.min(Math.max(timeout, 0), MAX_WAIT_SECONDS))
    const returns = [...this.#jobs.returns(job.jid)]
    if (!full) return Object.fromEntries(returns.map(([id, ret]) => [id, ret.return]))
    const whole = returns.map(([id, { return: ret, ...more }]) => [id, { ...more, ret }])
    return { ...Object.fromEntries(whole), __jid__: job.jid }
  }

  async #wait({ jid, minions }: Job, seconds: number): Promise<void> {
    this.#waiting++
    try {
      const missing = new Set(minions)
      for (const end = performance.now() + seconds * 1000; performance.now() < end; await delay(POLL_MS)) {
        for (const id of missing) {
          if (!this.#jobs.return(jid, id)) break
          missing.delete(id)
        }
        if (missing.size === 0) break
      }
    } finally {
      this.#waiting--
    }
  }
}
