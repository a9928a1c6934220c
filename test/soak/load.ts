/** Publishes jobs at a steady rate, and checks that each of them ends with the returns of all minions. */

import { untyped } from '../../core/author/calls.ts'
import { messageOf } from '../../core/base/errors.ts'
import { hasReturned, type LocalClient, type Run } from '../../core/client/index.ts'
import { type Call, mixedJob, PATIENCE } from './jobs.ts'
import { pause } from './pause.ts'
import type { Restarts } from './restarts.ts'

/** A machine that does not keep up gets no more jobs than these at once: the load is to be steady, not to pile up. */
const MOST_OPEN = 8
const LOOK_MS = 500

export interface LoadSettings {
  readonly client: LocalClient
  /** All of the master's. */
  readonly minions: readonly string[]
  readonly restarts: Restarts
  readonly jobsPerSecond: number
}

export class Load {
  readonly #settings: LoadSettings
  readonly #open = new Set<Promise<void>>()
  published = 0
  returns = 0
  /** Returns that did not come, or were not right: a sentence each. */
  readonly lost: string[] = []
  /** Why jobs were not published; their publisher was told so. */
  readonly refused: string[] = []

  constructor(settings: LoadSettings) {
    this.#settings = settings
  }

  /** Resolves when all jobs that were published until `over` have ended. */
  async run(over: AbortSignal): Promise<void> {
    const intervalMs = 1000 / this.#settings.jobsPerSecond
    for (let n = 0, due = performance.now(); !over.aborted; n++, due += intervalMs) {
      if (this.#open.size >= MOST_OPEN) {
        await Promise.race(this.#open)
        due = Math.max(due, performance.now())
      }
      const job = this.#runJob(n).finally(() => this.#open.delete(job))
      this.#open.add(job)
      await pause(due + intervalMs - performance.now(), over)
    }
    await Promise.all(this.#open)
  }

  async #runJob(n: number): Promise<void> {
    const { minions, restarts } = this.#settings
    const { isRight, ...call } = mixedJob(n, minions)
    const from = performance.now()
    const isExcused = (id: string) => restarts.wasAway(id, from, performance.now())
    const missing = new Set(call.tgt)
    const reasons = new Map<string, string>()
    const enough = new AbortController()
    const run = await this.#publish({ ...call, signal: enough.signal })
    if (!run) return
    // Minions that were restarted may take their time; the jobs that wait for nobody else would hold up the load.
    const look = setInterval(() => [...missing].every(isExcused) && enough.abort(), LOOK_MS)
    try {
      for await (const result of run) {
        if (!hasReturned(result)) reasons.set(result.id, result.why)
        else if (!isRight(result)) reasons.set(result.id, `returned ${shown(result.return)}`)
        else {
          this.returns++
          missing.delete(result.id)
        }
      }
    } catch (error) {
      if (!enough.signal.aborted) throw error
    } finally {
      clearInterval(look)
    }
    for (const id of missing)
      if (!isExcused(id)) this.#tell(this.lost, `${call.fun} on ${id}: ${reasons.get(id) ?? 'no return'}`)
  }

  async #publish(call: Call & { readonly signal: AbortSignal }): Promise<Run | undefined> {
    try {
      const run = await this.#settings.client.cmdIter({
        ...call,
        fun: untyped(call.fun),
        tgtType: 'list',
        timeout: PATIENCE,
      })
      this.published++
      return run
    } catch (error) {
      this.#tell(this.refused, `${call.fun} was not published: ${messageOf(error)}`)
      return undefined
    }
  }

  #tell(list: string[], what: string): void {
    list.push(what)
    process.stderr.write(`${what}\n`)
  }
}

const shown = (value: unknown): string | undefined => JSON.stringify(value)?.slice(0, 100)
