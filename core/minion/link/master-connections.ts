import { messageOf, SaltError } from '../../base/errors.ts'
import type { Transports } from '../../config/index.ts'
import type { MinionKeys } from '../../keys/minion-keys.ts'
import { isReachable } from '../../transport/reachable.ts'
import { newStartToken } from '../../wire/minion-start.ts'
import { choosesOne, failoverTimes, mastersInOrder } from './choose-masters.ts'
import { Failover } from './failover.ts'
import { isOverNats } from './master-addresses.ts'
import { MasterConnection, type MasterConnectionSettings } from './master-connection.ts'

export interface MasterConnectionsSettings
  extends Pick<
    MasterConnectionSettings,
    'config' | 'grains' | 'log' | 'onJob' | 'onReady' | 'onForgotten' | 'onConnection'
  > {
  readonly keys: MinionKeys
  readonly transports: Transports
  /** Aborts when the minion closes. */
  readonly closing: AbortSignal
}

/** How long to wait for an answer before the next master is tried. */
const REACHABLE_MS = 1_500

/** The connections of a minion to its masters: to all of them at once, or to one at a time (`master_type: failover`). */
export class MasterConnections {
  /** All connections, in the order in which the masters are used. */
  readonly all: readonly MasterConnection[]
  readonly #settings: MasterConnectionsSettings
  readonly #failover: Failover<MasterConnection> | undefined

  constructor(settings: MasterConnectionsSettings) {
    const { config, keys, transports, log, closing } = settings
    const startToken = newStartToken()
    this.#settings = settings
    const masters = mastersInOrder(config)
    this.all = masters.map(
      (address) =>
        new MasterConnection({
          ...settings,
          id: config.id,
          key: keys.key,
          known: keys.master(),
          signingKey: keys.signingKey,
          startToken,
          address,
          transport: transports(address.transport),
          now: Date.now,
          onConnection: (state, connection) => {
            settings.onConnection?.(state, connection)
            this.#failover?.connectionChanged()
          },
        }),
    )
    this.#failover =
      choosesOne(config) && !masters.every(isOverNats)
        ? new Failover({
            masters: this.all,
            times: failoverTimes(config),
            maxRounds: config.master_tries,
            log,
            closing,
            isReachable: async ({ masterAddress }) =>
              isOverNats(masterAddress) || isReachable(masterAddress, REACHABLE_MS),
          })
        : undefined
  }

  /** Resolves when the first sign-in attempt with each master is over, or with failover, when one serves. */
  get firstAttempts(): Promise<unknown> {
    if (this.#failover) return this.#failover.firstRound
    return Promise.all(this.all.map((connection) => connection.firstAttempt))
  }

  /** Serve the masters until closed. Rejects when the minion has given up on every one of them. */
  async run(): Promise<void> {
    if (this.#failover) return this.#failover.run()
    if (this.all.length === 0) return await aborted(this.#settings.closing)
    const ends = await Promise.allSettled(this.all.map((connection) => this.#serve(connection)))
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed && ends.every((end) => end.status === 'rejected')) throw failed.reason
  }

  async #serve(connection: MasterConnection): Promise<void> {
    const { log, closing } = this.#settings
    try {
      await connection.run()
    } catch (error) {
      if (this.all.length > 1 && !closing.aborted)
        log.error(
          `The minion stops trying to connect to the master ${connection.address}: ${messageOf(error)}`,
        )
      throw error
    }
  }

  /**
   * Send a request to all masters, or to the one that serves this minion. Resolves with the first answer. An unreachable master gets the
   * request later.
   */
  request(load: Readonly<Record<string, unknown>>): Promise<unknown> {
    const current = this.#failover?.current
    const asked = current ? [current] : this.all
    if (asked.length > 0) return firstFulfilled(asked.map((connection) => connection.request(load)))
    return Promise.reject(
      new SaltError('MASTER_UNREACHABLE', 'This minion has no master (master_type: disable).'),
    )
  }

  /** Receive no further publications. Requests are still sent. */
  async unsubscribe(): Promise<void> {
    await Promise.all(this.all.map((connection) => connection.unsubscribe()))
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((connection) => connection.close()))
  }
}

/** Resolves with the first result. If all fail, rejects with the error of the first promise in the list. */
export const firstFulfilled = <T>(asked: readonly Promise<T>[]): Promise<T> =>
  Promise.any(asked).catch((error: AggregateError) => Promise.reject(error.errors[0]))

/** Resolves when a signal is aborted. */
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
