import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import type { MinionConfig } from '../../config/index.ts'
import type { PrivateKey } from '../../crypto/index.ts'
import type { ReturnSpool, SpoolEntry, SpooledReturn } from '../../jobs/return-spool.ts'
import type { SeenJobs } from '../../jobs/seen-jobs.ts'
import type { ReturnerProcesses } from '../../outbox/index.ts'
import { garbageCollector } from '../../process/garbage-collector.ts'
import { signMessage } from '../../wire/message-signature.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { ReturnLoad } from '../../wire/return.ts'
import type { CachedReturns } from '../cached-returns.ts'
import type { MasterConnection } from '../link/master-connection.ts'
import { sendReturn } from '../link/send-return.ts'
import { Deliverer } from './deliverer.ts'
import { withoutArguments } from './failed-return.ts'
import { followOrphans } from './orphans.ts'
import { persistReturn } from './persist-return.ts'
import type { ProcEntry, ProcTable } from './proc-table.ts'
import { UndeliveredReturns } from './undelivered-returns.ts'

export interface ReturnDeliverySettings {
  readonly config: MinionConfig
  readonly log: Log
  /** The minion's key, for signing returns (`minion_sign_messages`). */
  readonly key: PrivateKey
  readonly connections: readonly MasterConnection[]
  readonly procs: ProcTable
  readonly spool: ReturnSpool
  readonly seen: Pick<SeenJobs, 'settle' | 'isSettled'>
  readonly cached: CachedReturns
  readonly returners: ReturnerProcesses | undefined
  /** Aborts when the minion closes. */
  readonly closing: AbortSignal
}

/** Persists the returns of jobs and delivers them to the masters, beginning with those in the spool at the start. */
export class ReturnDelivery {
  readonly #settings: ReturnDeliverySettings
  /** One for each master, so that an unreachable one does not delay the returns for the others. */
  readonly #deliverers: ReadonlyMap<MasterConnection, Deliverer>
  readonly #undelivered: UndeliveredReturns
  /** Time at which the last return was persisted, by `performance.now()`. */
  lastReturnAt = 0

  constructor(settings: ReturnDeliverySettings) {
    const { log, procs, spool, connections } = settings
    this.#settings = settings
    this.#deliverers = new Map(connections.map((connection) => [connection, this.#openDeliverer(connection)]))
    this.#undelivered = new UndeliveredReturns({
      spool,
      deliverers: [...this.#deliverers.values()],
      procs,
      deliver: (entry) => this.#deliver(entry),
      log,
    })
  }

  /** Return the connection to the master that published a job; if it is no longer configured, the first one. */
  connectionOf({ master }: Pick<SpooledReturn, 'master'>): MasterConnection | undefined {
    const { connections } = this.#settings
    return connections.find(({ address }) => address === master) ?? connections[0]
  }

  /**
   * Persist a return and queue it for delivery. Resolves when it is on disk or the master has it. Until then the job is listed as
   * running, even if it was refused or is a control function: a client that gets "no such job" would treat the job as lost.
   * `spooled` is the key of a return that is in the spool already.
   */
  async persist(job: JobLoad, ret: ReturnLoad, master: string, spooled?: SpoolEntry['key']): Promise<void> {
    const { config, log, cached, procs, returners, spool } = this.#settings
    const { jid } = job
    log.debug('minion return: {ret}', { ret })
    log.info(`Returning information for job: ${jid}`)
    if (config.cache_jobs)
      await cached
        .save(jid, ret)
        .catch((error: unknown) =>
          log.warn(`The return of job ${jid} is not kept for cache_jobs: ${messageOf(error)}`),
        )
    if (!procs.get(jid))
      await procs.add({ job: withoutArguments(job), process: undefined, isReturning: true, stop: () => {} })
    const returned = { jid, master, job: { ...job, arg: ret.fun_args }, ret }
    const entry = spooled ? spool.at(spooled) : config.pub_ret ? await this.#persist(returned) : undefined
    await procs.remove(jid)
    this.lastReturnAt = performance.now()
    if (entry) this.#deliver(entry)
    else await this.#settle(jid)
    if (job.ret !== '' || config.return !== undefined) returners?.wake()
  }

  /** Give a return to each job that an earlier run of the minion left. */
  followOrphans(orphans: readonly ProcEntry[]): Promise<void> {
    const { config, procs, spool, seen, log, closing } = this.#settings
    return followOrphans(orphans, {
      id: config.id,
      procs,
      spool,
      seen,
      log,
      closing,
      deliver: (entry) => this.#deliver(entry),
      persist: ({ job, master = '' }, ret) => this.persist(job, ret, master),
    })
  }

  /** Wait up to `ms` milliseconds for returns that are being sent. The others stay in the spool. */
  async close(ms: number): Promise<void> {
    this.#undelivered.close()
    await Promise.all(Array.from(this.#deliverers.values(), (deliverer) => deliverer.close(ms)))
  }

  #openDeliverer(connection: MasterConnection): Deliverer {
    const { config, spool, log } = this.#settings
    const { return_retry_timer: min, return_retry_timer_max: max } = config
    return new Deliverer({
      spool,
      spooled: spool.pending().filter((entry) => this.connectionOf(entry) === connection),
      send: (ret) => this.#send(ret, connection),
      collect: garbageCollector(),
      log,
      retry: { min, max },
    })
  }

  #deliver(entry: SpoolEntry): void {
    const connection = this.connectionOf(entry)
    if (connection) this.#deliverers.get(connection)?.deliver(entry)
  }

  #persist(ret: SpooledReturn): Promise<SpoolEntry | undefined> {
    const { spool, log, closing } = this.#settings
    const send = async (ret: SpooledReturn) => {
      const connection = this.connectionOf(ret)
      return connection && this.#send(ret.ret, connection)
    }
    return persistReturn(ret, { spool, send, log, closing })
  }

  #send(ret: SpooledReturn['ret'], connection: MasterConnection): Promise<unknown> {
    return sendReturn(this.#signed(ret), connection, this.#settings.connections)
  }

  /** Settle the record of a job whose return needs no delivery. If the disk cannot be written, there is no record either. */
  async #settle(jid: string): Promise<void> {
    const { seen, log } = this.#settings
    await seen.settle(jid).catch((error: unknown) => log.debug(messageOf(error)))
  }

  #signed(ret: SpooledReturn['ret']): SpooledReturn['ret'] {
    const { config, key } = this.#settings
    return config.minion_sign_messages ? signMessage(ret, key) : ret
  }
}
