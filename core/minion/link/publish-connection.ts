import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../base/errors.ts'
import { makeIntroduction } from '../../channel/introduction.ts'
import { BROADCAST_TOPIC, minionTopic, runTopic, SYNDIC_TOPIC } from '../../channel/publish-channel.ts'
import { makeToken } from '../../channel/token.ts'
import { component } from '../../log/component.ts'
import type { ClientSettings, PublishClient } from '../../transport/contract.ts'
import type { Credentials } from './credentials.ts'
import { isOverNats, type MasterAddress, masterName } from './master-addresses.ts'
import type { MasterConnectionSettings } from './master-connection.ts'
import { portCheckMs, reconnectionWaits } from './reconnection.ts'
import type { StartReport } from './start-report.ts'

interface PublishConnectionSettings
  extends Pick<
    MasterConnectionSettings,
    'address' | 'config' | 'id' | 'isSyndic' | 'key' | 'log' | 'transport'
  > {
  readonly client: ClientSettings
  readonly credentials: Credentials
  readonly start: StartReport
  /** Aborts when the minion is to receive no further publications. */
  runSignal(): AbortSignal
  /** Get the jobs that were published while there was no connection. `signal` aborts when the connection is lost. */
  catchUp(signal: AbortSignal): Promise<void>
  onChange(state: 'up' | 'down'): void
}

/** The connection of a minion to the publish port of one master (wire protocol §6). */
export class PublishConnection {
  readonly #settings: PublishConnectionSettings
  #frames: PublishClient | undefined
  /** Aborts the work of the present state (up or down) when the state changes. */
  #phase = new AbortController()
  /** How many connections have been established. */
  established = 0
  isUp = false

  constructor(settings: PublishConnectionSettings) {
    this.#settings = settings
  }

  /** The masters that can be asked through one connection, see `PublishClient`. */
  get servers(): readonly string[] {
    return this.#frames?.servers ?? []
  }

  /** Subscribe at the publish port that the master named at the sign-in. */
  async open(offered: number): Promise<PublishClient> {
    const { transport, config, id, key, log, isSyndic, address, client, credentials, start } = this.#settings
    const ownTopic = minionTopic(id)
    const addressed = [BROADCAST_TOPIC, isSyndic ? SYNDIC_TOPIC : ownTopic]
    const port = config.publish_port && config.publish_port !== 4506 ? config.publish_port : offered
    component(log, 'transport.zeromq').debug(
      'Connecting the Minion to the Master publish port, using the URI: {uri}',
      { uri: `tcp://${address.host}:${port}` },
    )
    const frames = await transport.subscribe({
      ...client,
      port,
      identity: id,
      // The topic of the run identifies the connected minion to its master; '' matches every payload.
      topics: [
        ...(config.zmq_filtering ? [...new Set([...addressed, ownTopic])] : ['']),
        runTopic(start.token),
      ],
      addressed,
      introduction: async () => makeIntroduction(id, makeToken(key), await credentials.get()),
      ...reconnectionWaits(config, start.answer.reconnectMs),
      ...(start.offersMissedJobs && { heartbeat: 'quick' }),
    })
    this.#frames = frames
    void this.#watchPort(frames, offered, this.#nextPhase())
    frames.onConnection((state) => {
      log.info(`The connection to ${publisherOf({ ...address, port })} is ${state}`)
      if (state === 'up') this.established++
      this.#set(state)
      const signal = this.#nextPhase()
      if (state === 'up') void this.#settings.catchUp(signal)
      else void this.#watchPort(frames, offered, signal)
    })
    // One that was taken for gone may have published meanwhile.
    frames.onServer?.(() => this.catchUpAgain())
    return frames
  }

  catchUpAgain(): void {
    if (this.isUp) void this.#settings.catchUp(this.#nextPhase())
  }

  async close(): Promise<void> {
    await this.#frames?.close()
  }

  /** Close the connection since another master serves the minion. */
  end(): void {
    this.#phase.abort()
    void this.close()
    if (this.isUp) this.#set('down')
  }

  #set(state: 'up' | 'down'): void {
    this.isUp = state === 'up'
    this.#settings.onChange(state)
  }

  /** Abort the work of the present state, and return the signal for the work of the next one. */
  #nextPhase(): AbortSignal {
    this.#phase.abort()
    this.#phase = new AbortController()
    return AbortSignal.any([this.#phase.signal, this.#settings.runSignal()])
  }

  /** While there is no connection, sign in again from time to time to find a master that now uses another publish port. */
  async #watchPort(frames: PublishClient, offered: number, signal: AbortSignal): Promise<void> {
    const { config, credentials, log } = this.#settings
    try {
      for (;;) {
        await delay(portCheckMs(config), undefined, { signal })
        const { publishPort } = await credentials.renew(await credentials.get())
        if (publishPort !== offered) return await frames.close()
      }
    } catch (error) {
      if (!signal.aborted) log.debug(`The master's publish port could not be determined: ${messageOf(error)}`)
    }
  }
}

const publisherOf = (address: MasterAddress): string =>
  isOverNats(address) ? 'the masters over NATS' : `the master's publish port ${masterName(address)}`
