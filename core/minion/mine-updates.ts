import type { Log, MinionServices } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import { isRecord } from '../base/record.ts'
import type { MinionConfig } from '../config/index.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import type { Facts } from './facts.ts'
import type { JobPool } from './jobs/job-pool.ts'
import type { MasterConnection } from './link/master-connection.ts'

export interface MineUpdatesSettings {
  readonly config: MinionConfig
  readonly log: Log
  readonly facts: Pick<Facts, 'pillar'>
  readonly pool: Pick<JobPool, 'run'>
  readonly connections: readonly MasterConnection[]
  servicesFor(connection: MasterConnection, job: JobLoad): MinionServices
  /** Run a job in the minion's own process. */
  runHere(job: JobLoad, services: MinionServices): Promise<ReturnLoad>
}

const FUNCTION = 'mine.update'
const MINUTE_MS = 60_000

/**
 * Runs `mine.update` for each master when it has accepted this minion, and every `mine_interval` minutes, if there are `mine_functions`.
 * Nothing is returned to the master.
 */
export class MineUpdates {
  readonly #settings: MineUpdatesSettings
  readonly #begun = new WeakSet<MasterConnection>()
  readonly #timer: NodeJS.Timeout | undefined

  constructor(settings: MineUpdatesSettings) {
    this.#settings = settings
    const { mine_interval: minutes, mine_enabled } = settings.config
    if (mine_enabled && minutes > 0)
      this.#timer = setInterval(() => void this.#updateAll(), minutes * MINUTE_MS)
    this.#timer?.unref()
  }

  /** Send the values to a master that has accepted this minion, if it has not been sent them. */
  async begin(connection: MasterConnection): Promise<void> {
    if (this.#begun.has(connection)) return
    this.#begun.add(connection)
    await this.update(connection)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #updateAll(): Promise<void> {
    const signedIn = this.#settings.connections.filter((connection) => connection.isSignedIn)
    const updates = await Promise.allSettled(signedIn.map((connection) => this.update(connection)))
    for (const update of updates)
      if (update.status === 'rejected')
        this.#settings.log.error(`The update of the mine failed: ${messageOf(update.reason)}`)
  }

  /** Send the values to a master, if there are any. */
  async update(connection: MasterConnection): Promise<void> {
    const { config, facts, log, servicesFor } = this.#settings
    if (!config.mine_enabled) return
    const sources: unknown[] = [config.mine_functions, facts.pillar.mine_functions]
    if (!sources.some((functions) => isRecord(functions) && Object.keys(functions).length > 0)) return
    const job = { jid: 'mine', fun: FUNCTION, arg: [], tgt: config.id, tgt_type: 'glob', ret: '' }
    const { success, return: value } = await this.#run(job, servicesFor(connection, job), connection)
    if (success && value !== false)
      log.debug('The mine was updated at {master}', { master: connection.address })
    else log.error(`The mine was not updated at the master ${connection.address}: ${String(value)}`)
  }

  async #run(job: JobLoad, services: MinionServices, { address }: MasterConnection): Promise<ReturnLoad> {
    const { config, pool, runHere } = this.#settings
    if (!config.multiprocessing) return runHere(job, services)
    let ret: ReturnLoad | undefined
    await pool.run(job, {
      services,
      master: address,
      cancelled: new AbortController().signal,
      started: async () => {},
      shown: async () => {},
      findSpooled: () => undefined,
      finished: async (given) => {
        ret = given
      },
    })
    if (!ret) throw new Error('its job process gave no return')
    return ret
  }
}
