import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import { deferred } from '../../base/deferred.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { createRequestChannel, type Recipient, type RequestChannel } from '../../channel/request-channel.ts'
import type { KnownMaster, SignInKeys } from '../../channel/sign-in-client.ts'
import { type ReceivedPublication, receiveJobs } from '../../channel/subscription.ts'
import { keepAliveOf, type MinionConfig, tlsToMaster } from '../../config/index.ts'
import { type PrivateKey, type PublicKey, SymmetricKey } from '../../crypto/index.ts'
import { component } from '../../log/component.ts'
import type { ClientSettings, RequestClient, Transport } from '../../transport/contract.ts'
import { Credentials } from './credentials.ts'
import { type MasterAddress, masterName } from './master-addresses.ts'
import { missedJobs } from './missed-jobs.ts'
import { signInUntilAccepted } from './persistent-sign-in.ts'
import { PublishConnection } from './publish-connection.ts'
import { StartReport } from './start-report.ts'

export interface MasterConnectionSettings {
  readonly config: MinionConfig
  readonly id: string
  readonly key: PrivateKey
  readonly known: KnownMaster
  readonly signingKey: PublicKey | undefined
  readonly transport: Transport
  readonly address: MasterAddress
  /** Identifies this run of the minion. The same for all its masters. */
  readonly startToken?: string
  readonly grains: () => Readonly<Record<string, unknown>>
  readonly log: Log
  /** Whether this is a syndic, which gets the jobs of all targets for the minions below it (`salt-syndic`). */
  readonly isSyndic?: boolean
  /** Fail where a daemon would wait (`salt-call`). */
  readonly once?: boolean
  onJob(received: ReceivedPublication, connection: MasterConnection): void
  /** Called after the first sign-in and subscription. */
  onReady(connection: MasterConnection): Promise<void>
  /** Called when the master may have lost its data about the minion: it has accepted the key again, or has no grains of it. */
  onForgotten?(connection: MasterConnection): Promise<void>
  /** Called when the connection to the publish port is established or lost. */
  onConnection?(state: 'up' | 'down', connection: MasterConnection): void
  now(): number
}

/** Sign-in, subscription and requests of one minion with one master (wire protocol §6, §9). */
export class MasterConnection {
  readonly #settings: MasterConnectionSettings
  readonly #details: Log
  readonly #client: RequestClient
  readonly #channel: RequestChannel
  readonly #token = SymmetricKey.generate().text
  readonly #start: StartReport
  readonly #closing = new AbortController()
  /** Aborts when the present run ends. */
  #ending = new AbortController()
  readonly #attempted = deferred<void>()
  readonly #publications: PublishConnection
  readonly #credentials = new Credentials(() => this.#signIn())
  #isReady = false
  /** Aborts when a later report to a master that has forgotten this minion begins. */
  #reporting = new AbortController()
  readonly #listeners = new Set<() => void>()

  constructor(settings: MasterConnectionSettings) {
    const { transport, id, key } = settings
    this.#settings = settings
    this.#start = new StartReport({ ...settings, request: (load) => this.request(load) })
    this.#details = component(settings.log, 'channel.client')
    this.#details.debug('Initializing new AsyncZeroMQReqChannel for {channel}', {
      channel: [settings.config.pki_dir, id, `tcp://${this.address}`],
    })
    const client = this.#clientSettings()
    this.#client = transport.connectRequests(client)
    this.#publications = new PublishConnection({
      ...settings,
      client,
      credentials: this.#credentials,
      start: this.#start,
      runSignal: () => this.#runSignal,
      catchUp: (signal) => this.#catchUp(signal),
      onChange: (state) => this.#changed(state),
    })
    this.#channel = createRequestChannel({
      client: this.#client,
      id,
      key,
      algorithms: this.#algorithms,
      credentials: () => this.#credentials.get(),
      renew: (stale) => this.#credentials.renew(stale),
      now: settings.now,
    })
  }

  /** Resolves when the first sign-in was answered or timed out. Stays pending if that made `run` reject. */
  get firstAttempt(): Promise<void> {
    return this.#attempted.promise
  }

  /** The connection to the publish port: how many have been established, and whether one is up. */
  get publishConnection(): Pick<PublishConnection, 'established' | 'isUp'> {
    return this.#publications
  }

  get host(): string {
    return this.#settings.address.host
  }

  /** Where requests are sent. */
  get masterAddress(): MasterAddress {
    return this.#settings.address
  }

  /** The name of the master in messages, see {@link masterName}. */
  get address(): string {
    return masterName(this.#settings.address)
  }

  /**
   * Sign in and receive publications until closed, or until `signal` aborts, after which it may run again. Rejects when the minion gives up
   * on this master, see `signInUntilAccepted`.
   */
  async run(signal?: AbortSignal): Promise<void> {
    this.#ending = new AbortController()
    const end = () => this.#endRun()
    signal?.addEventListener('abort', end, { once: true })
    try {
      await this.#receive(this.#runSignal)
    } catch (error) {
      if (!signal?.aborted) throw error
    } finally {
      signal?.removeEventListener('abort', end)
    }
  }

  /** Receive no further publications, and forget the credentials: another master serves the minion. */
  #endRun(): void {
    this.#ending.abort()
    this.#credentials.forget()
    this.#publications.end()
  }

  async #receive(ending: AbortSignal): Promise<void> {
    const { onJob, onReady, log, config } = this.#settings
    this.#isReady = false
    while (!ending.aborted) {
      const { publishPort } = await this.#credentials.get()
      if (await this.#start.isRefused(ending)) continue
      if (ending.aborted) return
      const frames = await this.#publications.open(publishPort)
      if (ending.aborted) return await frames.close()
      if (!this.#isReady)
        void this.#untilDone('Start-up work failed and will be retried', this.#runSignal, () => onReady(this))
      this.#isReady = true
      const jobs = receiveJobs({
        frames,
        log,
        requireSignature: config.sign_pub_messages,
        credentials: () => this.#credentials.get(),
        renew: (stale) => this.#credentials.renew(stale),
        onUndecryptable: () => this.#publications.catchUpAgain(),
      })
      for await (const received of jobs) onJob(received, this)
    }
  }

  /**
   * Get the jobs that were published while this minion was not connected, or that it could not decrypt. A master of Python Salt
   * keeps none.
   */
  #catchUp(signal: AbortSignal): Promise<void> {
    const { id, onJob } = this.#settings
    const request = (load: Readonly<Record<string, unknown>>, to?: Recipient) => this.request(load, to)
    const servers = () => this.#publications.servers
    const failure = 'The master could not be asked for missed jobs, and will be asked again'
    return this.#untilDone(failure, signal, async () => {
      // Another master may have taken the place of the one that this run was reported to, or it has another configuration.
      if (this.#publications.established > 1) {
        await this.#start.send()
        if (this.#start.answer.lacksGrains) this.#reportAgain()
      }
      if (this.#start.answer.refused !== undefined) return await this.#publications.close() // `run` reports the start again
      if (this.#start.offersMissedJobs)
        for await (const received of missedJobs({ id, request, servers, signal })) onJob(received, this)
    })
  }

  /** Do work that needs answers of the master, and repeat it until it succeeds. `failure` is the beginning of the warnings. */
  async #untilDone(failure: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const { log, config } = this.#settings
    while (!signal.aborted) {
      try {
        return await work()
      } catch (error) {
        if (signal.aborted) return
        log.warn(`${failure}: ${messageOf(error)}`)
        await delay(config.acceptance_wait_time * 1000, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** Aborts when the present run ends, or the connection is closed. */
  get #runSignal(): AbortSignal {
    return AbortSignal.any([this.#ending.signal, this.#closing.signal])
  }

  /** Call a function each time that the connection to the publish port is established or lost. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Sign in if that has not been done. Rejects with the errors of `run`. */
  async signIn(): Promise<void> {
    await this.#credentials.get()
  }

  /** Whether the master takes reports of syndics. One of Python Salt does not. */
  get takesSyndics(): boolean {
    return this.#start.answer.takesSyndics === true
  }

  /** The cluster of masters that the master belongs to; undefined for one alone. */
  get cluster(): string | undefined {
    return this.#start.answer.cluster
  }

  /** Whether this minion has valid credentials, as far as it knows. */
  get isSignedIn(): boolean {
    return this.#credentials.areValid
  }

  /**
   * Send a request. `to` names the one of several masters that takes it. A master that is only preferred is not asked again after
   * a timeout.
   */
  request(load: Readonly<Record<string, unknown>>, to?: Recipient): Promise<unknown> {
    const { cmd, jid, fun } = load
    this.#details.trace('ReqChannel send crypt load={load}', { load: { cmd, jid, fun } })
    return this.#withRetries((timeoutMs, isFirst) =>
      this.#channel.request(load, timeoutMs, isFirst || (to && 'only' in to) ? to : undefined),
    )
  }

  pillar(load: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    return this.#withRetries((timeoutMs) => this.#channel.pillar(load, timeoutMs))
  }

  /** Repeat a request that times out (`request_channel_timeout`, `request_channel_tries`). */
  async #withRetries<T>(ask: (timeoutMs: number, isFirst: boolean) => Promise<T>): Promise<T> {
    const { request_channel_timeout: seconds, request_channel_tries: tries } = this.#settings.config
    for (let count = 1; ; count++) {
      try {
        return await ask(seconds * 1000, count === 1)
      } catch (error) {
        if (!isTimeout(error) || count >= tries) throw error
      }
    }
  }

  /** Receive no further publications. Requests are still sent. */
  async unsubscribe(): Promise<void> {
    this.#closing.abort()
    await this.#publications.close()
  }

  async close(): Promise<void> {
    await this.unsubscribe()
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
      tls: tlsToMaster(config, address),
      ...(config.source_address && { sourceAddress: config.source_address }),
    }
  }

  #changed(state: 'up' | 'down'): void {
    this.#settings.onConnection?.(state, this)
    for (const listener of [...this.#listeners]) listener()
  }

  #reportAgain(): void {
    const { onForgotten } = this.#settings
    if (!this.#isReady || !onForgotten) return
    this.#reporting.abort()
    this.#reporting = new AbortController()
    const failure = 'The report to the master that has forgotten this minion failed and will be retried'
    const signal = AbortSignal.any([this.#reporting.signal, this.#runSignal])
    void this.#untilDone(failure, signal, () => onForgotten(this))
  }

  /**
   * Return the signal that aborts a sign-in: that of the run or, between runs, that of the connection, since returns for this
   * master still need a sign-in.
   */
  #signalOfSignIn(): AbortSignal {
    const [ending, closing] = [this.#ending.signal, this.#closing.signal]
    return ending.aborted ? closing : this.#runSignal
  }

  async #signIn(): Promise<SignInKeys> {
    const { config, id, key, known, signingKey, grains, log, once = false } = this.#settings
    const signedIn = signInUntilAccepted({
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
      closing: this.#signalOfSignIn(),
      onAttempt: () => this.#attempted.resolve(),
      onAcceptedAnew: () => this.#reportAgain(),
    })
    signedIn.catch(() => this.#publications.close()) // no more publications, so that `run` ends
    return await signedIn
  }
}

const isTimeout = (error: unknown): boolean => SaltError.is(error) && error.code === 'TIMEOUT'
