import { setTimeout as delay } from 'node:timers/promises'
import type { PeerPublish } from '../wire/peer-request.ts'
import type { WorkerRoom } from './room.ts'

/** Who waits at the master is answered within the deadline of a request. Seconds. */
const MOST_SECONDS = 40
/** So many wait at once in one worker; others get what is there at once. */
const MOST_WAITS = 64
const LOOK_MS = 100

interface Job {
  readonly jid: string
  readonly minions: readonly string[]
}

/** `minion_publish`: waits for returns of jobs that minions published. Nothing else waits meanwhile. */
export class PeerWaits {
  readonly #jobs: WorkerRoom['jobs']
  #waiting = 0

  constructor({ jobs }: Pick<WorkerRoom, 'jobs'>) {
    this.#jobs = jobs
  }

  /** Minion → value; `full`: minion → its whole return, and the job's id as `__jid__`. */
  async returns(job: Job, { timeout = 0, full }: Pick<PeerPublish, 'timeout' | 'full'>): Promise<object> {
    if (job.jid === '') return {}
    if (this.#waiting < MOST_WAITS) await this.#wait(job, Math.min(Math.max(timeout, 0), MOST_SECONDS))
    const returns = [...this.#jobs.returns(job.jid)]
    if (!full) return Object.fromEntries(returns.map(([id, ret]) => [id, ret.return]))
    const whole = returns.map(([id, { return: ret, ...more }]) => [id, { ...more, ret }])
    return { ...Object.fromEntries(whole), __jid__: job.jid }
  }

  async #wait({ jid, minions }: Job, seconds: number): Promise<void> {
    this.#waiting++
    try {
      const missing = new Set(minions)
      for (const end = performance.now() + seconds * 1000; performance.now() < end; await delay(LOOK_MS)) {
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
