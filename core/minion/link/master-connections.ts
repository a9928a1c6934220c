import { messageOf } from '../../base/errors.ts'
import type { MinionKeys } from '../../keys/minion-keys.ts'
import { newStartToken } from '../../wire/minion-start.ts'
import { masterAddresses } from './master-addresses.ts'
import { MasterConnection, type MasterConnectionSettings } from './master-connection.ts'

export interface MasterConnectionsSettings
  extends Pick<
    MasterConnectionSettings,
    'config' | 'transport' | 'grains' | 'log' | 'onJob' | 'onReady' | 'onConnection'
  > {
  readonly keys: MinionKeys
  /** Aborts when the minion closes. */
  readonly closing: AbortSignal
}

/** The connections of a minion to its masters. */
export class MasterConnections {
  /** All connections, in the order of the configuration. */
  readonly all: readonly MasterConnection[]
  readonly #settings: MasterConnectionsSettings

  constructor(settings: MasterConnectionsSettings) {
    const { config, keys } = settings
    const startToken = newStartToken()
    this.#settings = settings
    this.all = masterAddresses(config).map(
      (address) =>
        new MasterConnection({
          ...settings,
          id: config.id,
          key: keys.key,
          known: keys.master(),
          signingKey: keys.signingKey,
          startToken,
          address,
          now: Date.now,
        }),
    )
  }

  /** Resolves when the first sign-in attempt with each master is over. */
  get firstAttempts(): Promise<unknown> {
    return Promise.all(this.all.map((connection) => connection.firstAttempt))
  }

  /** Serve all masters until closed. Rejects when the minion has given up on every one of them. */
  async run(): Promise<void> {
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

  /** Send a request to all masters. Resolves with the first answer. An unreachable master gets the request later. */
  request(load: Readonly<Record<string, unknown>>): Promise<unknown> {
    return firstFulfilled(this.all.map((connection) => connection.request(load)))
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
