import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { BROADCAST_TOPIC, topicOf } from '../channel/publish-channel.ts'
import { createRequestChannel, type RequestChannel } from '../channel/request-channel.ts'
import { type Credentials, type KnownMaster, signIn } from '../channel/sign-in-client.ts'
import { type ReceivedJob, subscription } from '../channel/subscription.ts'
import type { MinionConfig } from '../config/index.ts'
import { type PrivateKey, type PublicKey, SymmetricKey } from '../crypto/index.ts'
import type { ClientSettings, PublishClient, RequestClient, Transport } from '../transport/contract.ts'

export interface MasterLinkSettings {
  readonly config: MinionConfig
  readonly id: string
  readonly key: PrivateKey
  readonly known: KnownMaster
  readonly signingKey: PublicKey | undefined
  readonly transport: Transport
  readonly address: { readonly host: string; readonly port: number }
  readonly grains: () => Readonly<Record<string, unknown>>
  readonly log: Log
  onJob(received: ReceivedJob, link: MasterLink): void
  /** After the first sign-in, when publications arrive. */
  onReady(link: MasterLink): Promise<void>
  now(): number
}

/** The master is there, knows this minion, and says no. */
export class Rejected extends SaltError {
  constructor(address: string) {
    super(
      'KEY_REJECTED',
      `The master ${address} has rejected this minion's key. Accept it there (salt-key -a <id> --include-rejected), ` +
        'or set rejected_retry: true to keep asking.',
    )
  }
}

/** Sign-in, subscription and requests of one minion with one master (wire protocol §6, §9). */
export class MasterLink {
  readonly #settings: MasterLinkSettings
  readonly #client: RequestClient
  readonly #channel: RequestChannel
  readonly #token = SymmetricKey.generate().text
  readonly #closing = new AbortController()
  #credentials: Promise<Credentials> | undefined
  #current: Credentials | undefined
  #frames: PublishClient | undefined

  constructor(settings: MasterLinkSettings) {
    const { transport, id, key } = settings
    this.#settings = settings
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

  get address(): string {
    const { host, port } = this.#settings.address
    return `${host}:${port}`
  }

  /** Sign in and take publications until closed. Rejects only with {@link Rejected} or MASTER_KEY_CHANGED. */
  async run(): Promise<void> {
    const { onJob, onReady, log, config } = this.#settings
    let ready = false
    while (!this.#closing.signal.aborted) {
      const { publishPort } = await this.#signedIn()
      this.#frames = await this.#subscribe(publishPort)
      if (!ready) void onReady(this).catch((error) => log.warn(`Start-up work failed: ${messageOf(error)}`))
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

  request(load: Readonly<Record<string, unknown>>, timeoutMs = 60_000): Promise<unknown> {
    return this.#channel.request(load, timeoutMs)
  }

  pillar(load: Readonly<Record<string, unknown>>, timeoutMs = 60_000): Promise<Record<string, unknown>> {
    return this.#channel.pillar(load, timeoutMs)
  }

  /** No further publications; requests still go out. */
  async stopTaking(): Promise<void> {
    this.#closing.abort()
    await this.#frames?.close()
  }

  async close(): Promise<void> {
    await this.stopTaking()
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
      keepAlive: {
        idle: config.tcp_keepalive ? config.tcp_keepalive_idle : -1,
        count: config.tcp_keepalive_cnt,
        interval: config.tcp_keepalive_intvl,
      },
      ...(config.source_address && { sourceAddress: config.source_address }),
    }
  }

  async #subscribe(offered: number): Promise<PublishClient> {
    const { transport, config, id, log } = this.#settings
    const port = config.publish_port && config.publish_port !== 4506 ? config.publish_port : offered
    const span = config.recon_randomize ? Math.random() * config.recon_max : 0
    const frames = await transport.subscribe({
      ...this.#clientSettings(),
      port,
      identity: id,
      // The own topic also tells a master that does not filter who is connected; every payload matches ''.
      topics: config.zmq_filtering ? [BROADCAST_TOPIC, topicOf(id)] : ['', topicOf(id)],
      addressed: [BROADCAST_TOPIC, topicOf(id)],
      reconnectMs: config.recon_default + span,
      reconnectMaxMs: config.recon_max,
    })
    frames.onConnection((state) => {
      log.info(
        `The connection to the master's publish port ${this.#settings.address.host}:${port} is ${state}`,
      )
      if (state === 'down') void this.#watchPort(offered)
    })
    return frames
  }

  /** A master that comes back on another publish port is found by signing in again. */
  async #watchPort(offered: number): Promise<void> {
    const stale = this.#current
    try {
      await delay(this.#settings.config.recon_max * 1.5, undefined, { signal: this.#closing.signal })
      if (!stale || stale !== this.#current) return
      const { publishPort } = await this.#renew(stale)
      if (publishPort !== offered) await this.#frames?.close()
    } catch (error) {
      this.#settings.log.debug(`Could not ask the master for its publish port: ${messageOf(error)}`)
    }
  }

  #signedIn(): Promise<Credentials> {
    this.#credentials ??= this.#signInUntilAccepted().then((credentials) => {
      this.#current = credentials
      return credentials
    })
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

  async #signInUntilAccepted(): Promise<Credentials> {
    const { config, log } = this.#settings
    let wait = config.acceptance_wait_time
    for (;;) {
      const outcome = await this.#attempt()
      if (outcome?.state === 'accepted') {
        log.info(`Authentication with master at ${this.address} successful!`)
        return outcome.credentials
      }
      const seconds = outcome ? wait : Math.random() * config.random_reauth_delay
      if (outcome) wait = Math.min(wait * 2, config.acceptance_wait_time_max || config.acceptance_wait_time)
      await delay(seconds * 1000, undefined, { signal: this.#closing.signal })
    }
  }

  /** One sign-in; undefined if the master did not answer, or not in a way to act on. */
  async #attempt() {
    const { config, log, id, key, known, signingKey } = this.#settings
    const masterWasKnown = (await known.read()) !== undefined
    try {
      const outcome = await signIn({
        client: this.#client,
        timeoutMs: config.auth_timeout * 1000,
        id,
        key,
        known,
        algorithms: this.#algorithms,
        minimumVersion: config.minimum_auth_version,
        ...(signingKey && { signingKey }),
        ...(config.master_finger && {
          fingerprint: { expected: config.master_finger, hash: config.hash_type },
        }),
        ...this.#autosignGrains(),
        token: this.#token,
      })
      if (outcome.state === 'pending') {
        log.warn(
          `The master ${this.address} has this minion's key, and nobody has accepted it yet (salt-key -a ${id}). ` +
            `Asking again in ${config.acceptance_wait_time} seconds.`,
        )
      }
      if (outcome.state === 'full')
        log.error(`The master ${this.address} takes no more minions (max_minions).`)
      if (outcome.state === 'rejected') this.#rejected(masterWasKnown)
      return outcome
    } catch (error) {
      if (error instanceof Rejected || this.#closing.signal.aborted) throw error
      log.error(`Signing in to the master ${this.address} failed: ${messageOf(error)}`)
      return undefined
    }
  }

  /** Only a refusal signed by a master this minion knows is believed; anybody can send another. */
  #rejected(masterWasKnown: boolean): void {
    const rejected = new Rejected(this.address)
    if (masterWasKnown && !this.#settings.config.rejected_retry) throw rejected
    this.#settings.log.error(rejected.message)
  }

  #autosignGrains() {
    const names = this.#settings.config.autosign_grains
    if (!names?.length) return {}
    const grains = this.#settings.grains()
    return { autosignGrains: Object.fromEntries(names.map((name) => [name, grains[name]])) }
  }
}
