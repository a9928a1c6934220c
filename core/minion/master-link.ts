import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { BROADCAST_TOPIC, startTopicOf, topicOf } from '../channel/publish-channel.ts'
import { createRequestChannel, type RequestChannel } from '../channel/request-channel.ts'
import type { Credentials, KnownMaster } from '../channel/sign-in-client.ts'
import { type ReceivedJob, subscription } from '../channel/subscription.ts'
import { keepAliveOf, type MinionConfig } from '../config/index.ts'
import { type PrivateKey, type PublicKey, SymmetricKey } from '../crypto/index.ts'
import { component } from '../log/component.ts'
import type { ClientSettings, PublishClient, RequestClient, Transport } from '../transport/contract.ts'
import { ownAddressTowards } from '../transport/own-address.ts'
import { makeStartReport, newStartToken, readStartRefusal } from '../wire/minion-start.ts'
import { signInUntilAccepted } from './persistent-sign-in.ts'

export interface MasterLinkSettings {
  readonly config: MinionConfig
  readonly id: string
  readonly key: PrivateKey
  readonly known: KnownMaster
  readonly signingKey: PublicKey | undefined
  readonly transport: Transport
  readonly address: { readonly host: string; readonly port: number }
  /** Identifies this run of the minion; the same for all its masters. */
  readonly startToken?: string
  readonly grains: () => Readonly<Record<string, unknown>>
  readonly log: Log
  /** Give up where a daemon would wait (`salt-call`). */
  readonly once?: boolean
  onJob(received: ReceivedJob, link: MasterLink): void
  /** After the first sign-in, when publications arrive. */
  onReady(link: MasterLink): Promise<void>
  /** The connection to the publish port comes and goes. */
  onConnection?(state: 'up' | 'down', address: { readonly host: string; readonly port: number }): void
  now(): number
}

/** Sign-in, subscription and requests of one minion with one master (wire protocol §6, §9). */
export class MasterLink {
  readonly #settings: MasterLinkSettings
  readonly #details: Log
  readonly #client: RequestClient
  readonly #channel: RequestChannel
  readonly #token = SymmetricKey.generate().text
  readonly #startToken: string
  readonly #closing = new AbortController()
  readonly #asked = deferred<void>()
  /** To the publish port: how often there was a new one, and whether there is one. */
  readonly connection = { made: 0, isUp: false }
  #credentials: Promise<Credentials> | undefined
  #current: Credentials | undefined
  #frames: PublishClient | undefined

  constructor(settings: MasterLinkSettings) {
    const { transport, id, key } = settings
    this.#settings = settings
    this.#startToken = settings.startToken ?? newStartToken()
    this.#details = component(settings.log, 'channel.client')
    this.#details.debug('Initializing new AsyncZeroMQReqChannel for {channel}', {
      channel: [settings.config.pki_dir, id, `tcp://${this.address}`],
    })
    this.#client = transport.connectRequests(this.#clientSettings())
    this.#channel = createRequestChannel({
      client: this.#client,
      id,
      key,
      algorithms: this.#algorithms,
      credentials: () => this.#signedIn(),
      renew: (stale) => this.#renew(stale),
      now: settings.now,
    })
  }

  /** Resolves when the master has answered a sign-in, or did not in time; not where `run` rejects for it. */
  get asked(): Promise<void> {
    return this.#asked.promise
  }

  get address(): string {
    const { host, port } = this.#settings.address
    return `${host}:${port}`
  }

  /** Sign in and take publications until closed. Rejects when this master is given up, see `signInUntilAccepted`. */
  async run(): Promise<void> {
    const { onJob, log, config } = this.#settings
    let ready = false
    while (!this.#closing.signal.aborted) {
      const { publishPort } = await this.#signedIn()
      if (await this.#reportStart()) continue
      this.#frames = await this.#subscribe(publishPort)
      if (!ready) void this.#becomeReady()
      ready = true
      const jobs = subscription({
        frames: this.#frames,
        log,
        requireSignature: config.sign_pub_messages,
        credentials: () => this.#signedIn(),
        renew: (stale) => this.#renew(stale),
      })
      for await (const received of jobs) onJob(received, this)
    }
  }

  /** Report this run. Resolves with true, after a wait, where the master refuses it because another minion has its id. */
  async #reportStart(): Promise<boolean> {
    const { config, id, address, log } = this.#settings
    const { signal } = this.#closing
    const { host, port } = address
    const own = config.source_address || (await ownAddressTowards(host, port)) || 'unknown'
    try {
      const report = makeStartReport(id, {
        token: this.#startToken,
        address: own,
        host: hostname(),
        pid: process.pid,
      })
      const refusal = readStartRefusal(await this.request(report))
      if (refusal === undefined) return false
      const seconds = config.acceptance_wait_time
      log.error(`${refusal} Asking again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`)
      await delay(seconds * 1000, undefined, { signal })
      return true
    } catch (error) {
      if (!signal.aborted) log.debug(`The master was not told of the start: ${messageOf(error)}`)
      return signal.aborted
    }
  }

  /** Start-up work is done once, but not before the master has answered. */
  async #becomeReady(): Promise<void> {
    const { onReady, log, config } = this.#settings
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        return await onReady(this)
      } catch (error) {
        if (!signal.aborted) log.warn(`Start-up work failed and is tried again: ${messageOf(error)}`)
        await delay(config.acceptance_wait_time * 1000, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** Rejects where `run` would. */
  async signIn(): Promise<void> {
    await this.#signedIn()
  }

  /** The master has accepted this minion, as far as it knows. */
  get isSignedIn(): boolean {
    return this.#current !== undefined
  }

  request(load: Readonly<Record<string, unknown>>): Promise<unknown> {
    const { cmd, jid, fun } = load
    this.#details.trace('ReqChannel send crypt load={load}', { load: { cmd, jid, fun } })
    return this.#insist((timeoutMs) => this.#channel.request(load, timeoutMs))
  }

  pillar(load: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    return this.#insist((timeoutMs) => this.#channel.pillar(load, timeoutMs))
  }

  /** A request that is not answered in time is made anew (`request_channel_timeout`, `request_channel_tries`). */
  async #insist<T>(ask: (timeoutMs: number) => Promise<T>): Promise<T> {
    const { request_channel_timeout: seconds, request_channel_tries: tries } = this.#settings.config
    for (let count = 1; ; count++) {
      try {
        return await ask(seconds * 1000)
      } catch (error) {
        if (!isTimeout(error) || count >= tries) throw error
      }
    }
  }

  /** No further publications; requests still go out. */
  async stopTaking(): Promise<void> {
    this.#closing.abort()
    await this.#frames?.close()
  }

  async close(): Promise<void> {
    await this.stopTaking()
    this.#details.debug('Closing AsyncReqChannel instance')
    await this.#client.close()
  }

  get #algorithms() {
    const { encryption_algorithm: encryption, signing_algorithm: signing } = this.#settings.config
    return { encryption, signing } as Parameters<typeof createRequestChannel>[0]['algorithms']
  }

  #clientSettings(): ClientSettings {
    const { address, config } = this.#settings
    return {
      host: address.host,
      port: address.port,
      ipv6: config.ipv6,
      keepAlive: keepAliveOf(config),
      ...(config.source_address && { sourceAddress: config.source_address }),
    }
  }

  async #subscribe(offered: number): Promise<PublishClient> {
    const { transport, config, id, log } = this.#settings
    const port = config.publish_port && config.publish_port !== 4506 ? config.publish_port : offered
    const span = config.recon_randomize ? Math.random() * config.recon_max : 0
    component(log, 'transport.zeromq').debug(
      'Connecting the Minion to the Master publish port, using the URI: {uri}',
      { uri: `tcp://${this.#settings.address.host}:${port}` },
    )
    const frames = await transport.subscribe({
      ...this.#clientSettings(),
      port,
      identity: id,
      // The own topic also tells a master that does not filter who is connected; every payload matches ''.
      topics: [config.zmq_filtering ? BROADCAST_TOPIC : '', topicOf(id), startTopicOf(id, this.#startToken)],
      addressed: [BROADCAST_TOPIC, topicOf(id)],
      reconnectMs: config.recon_default + span,
      reconnectMaxMs: config.recon_max,
    })
    let found = this.#watchPort(frames, offered)
    frames.onConnection((state) => {
      log.info(
        `The connection to the master's publish port ${this.#settings.address.host}:${port} is ${state}`,
      )
      this.connection.isUp = state === 'up'
      if (state === 'up') this.connection.made++
      this.#settings.onConnection?.(state, this.#settings.address)
      found.abort()
      if (state === 'down') found = this.#watchPort(frames, offered)
    })
    return frames
  }

  /** As long as there is no connection: a master that is back on another publish port is found by signing in again. */
  #watchPort(frames: PublishClient, offered: number): AbortController {
    const found = new AbortController()
    const signal = AbortSignal.any([found.signal, this.#closing.signal])
    const look = async () => {
      for (;;) {
        await delay(this.#settings.config.recon_max * 1.5, undefined, { signal })
        const { publishPort } = await this.#renew(await this.#signedIn())
        if (publishPort !== offered) return frames.close()
      }
    }
    look().catch((error: unknown) => {
      if (!signal.aborted)
        this.#settings.log.debug(`The master's publish port is not known: ${messageOf(error)}`)
    })
    return found
  }

  #signedIn(): Promise<Credentials> {
    this.#credentials ??= this.#signIn().then(
      (credentials) => {
        this.#current = credentials
        return credentials
      },
      (error: unknown) => {
        void this.#frames?.close() // given up: nothing more is taken, and `run` ends
        throw error
      },
    )
    return this.#credentials
  }

  /** Only the first who finds the credentials stale signs in; the others wait for it. */
  #renew(stale: Credentials): Promise<Credentials> {
    if (this.#current === stale) {
      this.#current = undefined
      this.#credentials = undefined
    }
    return this.#signedIn()
  }

  #signIn(): Promise<Credentials> {
    const { config, id, key, known, signingKey, grains, log, once = false } = this.#settings
    return signInUntilAccepted({
      config,
      id,
      key,
      known,
      signingKey,
      client: this.#client,
      address: this.address,
      algorithms: this.#algorithms,
      token: this.#token,
      once,
      grains,
      log,
      closing: this.#closing.signal,
      onAsked: () => this.#asked.resolve(),
    })
  }
}

const isTimeout = (error: unknown): boolean => SaltError.is(error) && error.code === 'TIMEOUT'
