/** What a client of the master sees: which jobs were accepted, what it was told of each minion, and which returns were announced. */

import { untyped } from '../../core/author/calls.ts'
import { LocalClient, type MinionResult } from '../../core/client/index.ts'
import type { MasterConfig } from '../../core/config/index.ts'
import { EventBus, masterEventSockets, tags } from '../../core/events/index.ts'
import { hostTime } from './ledger/entries.ts'

/** What `salt` would have shown of a minion. */
interface Report {
  readonly result: MinionResult
  readonly at: number
}

/** A job that the master has accepted. */
export interface Accepted {
  readonly jid: string
  readonly minions: readonly string[]
  /** The size of its returns. */
  readonly bytes: number
  /** By minion. */
  readonly reports: Map<string, Report>
  /** Resolves when the client waits no longer. */
  readonly ended: Promise<void>
  /** Set when it does. */
  isEnded: boolean
}

export interface Work {
  readonly ms?: number
  readonly bytes?: number
  readonly tgt?: readonly string[]
}

/** Seconds without news after which the client asks the minions. */
const TIMEOUT = 3

export class Recorder {
  readonly client: LocalClient
  readonly accepted = new Map<string, Accepted>()
  /** Why jobs were not accepted. */
  readonly refused: string[] = []
  /** When the return of a job was first announced on the event bus, by `jid id`. */
  readonly announced = new Map<string, number>()
  readonly #bus: EventBus

  static async open(config: MasterConfig): Promise<Recorder> {
    return new Recorder(await LocalClient.connect(config), await EventBus.connect(masterEventSockets(config)))
  }

  private constructor(client: LocalClient, bus: EventBus) {
    this.client = client
    this.#bus = bus
    void this.#listen()
  }

  /** Publish a job of the ledger, and follow it. Undefined if the master did not accept it, or did not say so. */
  async publish({ ms = 0, bytes = 0, tgt }: Work): Promise<Accepted | undefined> {
    const target = tgt ? { tgt, tgtType: 'list' } : { tgt: '*' }
    try {
      const run = await this.client.cmdIter({
        ...target,
        fun: untyped('ledger.work'),
        kwarg: { ms, bytes },
        timeout: TIMEOUT,
        gatherJobTimeout: TIMEOUT,
      })
      const reports: Accepted['reports'] = new Map()
      const follow = async () => {
        for await (const result of run) reports.set(result.id, { result, at: hostTime() })
      }
      const { jid, minions } = run
      const job: Accepted = { jid, minions, bytes, reports, isEnded: false, ended: follow() }
      const end = () => {
        job.isEnded = true
      }
      void job.ended.then(end, end)
      this.accepted.set(jid, job)
      return job
    } catch (error) {
      this.refused.push((error as Error).message)
      return undefined
    }
  }

  async close(): Promise<void> {
    await this.client.close()
    await this.#bus.close()
  }

  async #listen(): Promise<void> {
    const returns = (tag: string) => tag.startsWith(tags.jobs) && tag.includes('/ret/')
    for await (const { tag, data } of this.#bus.subscribe(returns, undefined, { maxEvents: 1_000_000 })) {
      const pair = `${data.jid} ${data.id}`
      if (data.fun !== 'ledger.work' || this.announced.has(pair)) continue
      if (tag === tags.jobReturn(String(data.jid), String(data.id))) this.announced.set(pair, hostTime())
    }
  }
}
