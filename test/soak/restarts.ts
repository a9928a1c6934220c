/** Restarts minions in turns, and kills processes of the master. */
import type { Cluster, Daemon } from '../harness/daemons.ts'
import { treeOf } from '../harness/processes.ts'
import { pause } from './pause.ts'

const INTERVAL_MS = 30_000
/** A busy machine may take minutes to start a minion. */
const LONGEST_START_MS = 300_000
const POLL_MS = 100

interface Outage {
  readonly id: string
  readonly from: number
  to: number
}

export class Restarts {
  readonly #cluster: Cluster
  /** Of minions. Times are those of `performance.now()`. */
  readonly #outages: Outage[] = []

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  get count(): number {
    return this.#outages.length
  }

  /** Whether a minion was away, or being restarted, at some time between these. */
  wasAway(id: string, from: number, to: number): boolean {
    return this.#outages.some((outage) => outage.id === id && outage.from <= to && from <= outage.to)
  }

  /** Restart these minions, one each time; all of them are stopped in one round and killed in the next. */
  async restart(ids: readonly string[], over: AbortSignal): Promise<void> {
    const start = performance.now()
    for (let n = 0; ; n++) {
      await pause(start + (n + 1) * INTERVAL_MS - performance.now(), over)
      if (over.aborted) return
      const id = ids[n % ids.length] as string
      const isKilled = Math.floor(n / ids.length) % 2 === 1
      await this.#restartMinion(id, isKilled ? 'SIGKILL' : 'SIGTERM', over)
    }
  }

  /** A minion that is not back at the end stays away. */
  async #restartMinion(id: string, signal: NodeJS.Signals, over: AbortSignal): Promise<void> {
    const minion = this.#cluster.minions.get(id) as Daemon
    const outage = { id, from: performance.now(), to: Number.POSITIVE_INFINITY }
    this.#outages.push(outage)
    await minion.stop(signal)
    minion.output = ''
    minion.start()
    while (!minion.output.includes('is ready to receive jobs')) {
      if (over.aborted) return
      if (minion.exitCode !== null || performance.now() - outage.from > LONGEST_START_MS)
        throw new Error(`${id} is not back:\n${minion.output}`)
      await pause(POLL_MS, over)
    }
    outage.to = performance.now()
  }

  /** Kill a process of the master; its supervisor starts another one. */
  async killChild(name: string): Promise<void> {
    const child = treeOf(this.#cluster.master.pid).find(({ command }) => command === `salt-master ${name}`)
    if (!child) throw new Error(`The master has no process ${name}.`)
    process.kill(child.pid, 'SIGKILL')
  }
}
