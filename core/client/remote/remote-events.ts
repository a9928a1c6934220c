import type { Log } from '../../author/context.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { connectStream, type StreamConnection } from '../../channel/event-stream-client.ts'
import { type Match, readEvent, type SubscribeOptions, Subscriptions } from '../../events/index.ts'
import type { MasterEvents } from '../local/master-link.ts'
import type { RemoteMaster } from './remote-master.ts'
import type { RemoteSignIn } from './remote-sign-in.ts'
import { retryUntilConnected } from './retry-until-connected.ts'

const RETRY = { minMs: 200, maxMs: 5_000 }

/**
 * The events of a master on another host. Subscribes there to families of tags, as `salt/job/`, since the id of a job is
 * known too late to subscribe to it. Reconnects when the connection is lost, and reports the gap to subscribers.
 */
export class RemoteEvents implements MasterEvents {
  readonly #master: RemoteMaster
  readonly #signIn: RemoteSignIn
  readonly #log: Log
  readonly #subscriptions = new Subscriptions((text) => this.#want(text))
  readonly #families = new Set<string>()
  readonly #closing = new AbortController()
  readonly fire: MasterEvents['fire']
  #connection: StreamConnection | undefined
  #granted: Promise<void> = Promise.resolve()

  constructor(master: RemoteMaster, signIn: RemoteSignIn, log: Log, fire: MasterEvents['fire']) {
    this.#master = master
    this.#signIn = signIn
    this.#log = log
    this.fire = fire
  }

  subscribe(match: Match, signal?: AbortSignal, options?: SubscribeOptions) {
    return this.#subscriptions.add(match, signal, options)
  }

  /** Resolves once the master sends all subscribed events; without a connection at once, as a gap will be reported. */
  ready(): Promise<void> {
    return this.#granted
  }

  /** Connect, and reconnect whenever the connection is lost. Rejects if the master's key is not the known one. */
  open(): Promise<void> {
    const { signal } = this.#closing
    return retryUntilConnected(() => this.#connect(), { retry: RETRY, log: this.#log, signal })
  }

  close(): void {
    this.#closing.abort()
    this.#connection?.close()
    this.#subscriptions.close()
  }

  async #connect(): Promise<void> {
    const { host, eventPort: port, id } = this.#master
    const credentials = await this.#signIn.untilAccepted(this.#closing.signal)
    let isUp = false
    const settings = {
      host,
      port,
      id,
      session: credentials.request,
      onEvent: (body: Uint8Array) => this.#deliver(body),
      onEnd: (why: string) => {
        this.#connection = undefined
        if (isUp) this.#lost(why) // otherwise open() tries again
      },
    }
    try {
      const connection = await connectStream(settings)
      if (this.#closing.signal.aborted) return connection.close()
      this.#connection = connection
      await connection.want([...this.#families])
      isUp = true
    } catch (error) {
      // The session may have expired. If the key is not accepted any more, renewing reports that.
      if (SaltError.is(error) && error.code === 'AUTHENTICATION_FAILED') await this.#signIn.renew(credentials)
      throw error
    }
  }

  #lost(why: string): void {
    if (this.#closing.signal.aborted) return
    this.#log.warn(`The event stream of ${this.#master.host} was lost: ${why}. Reconnecting.`)
    this.open().then(
      () => {
        this.#log.info(`The event stream of ${this.#master.host} is back`)
        this.#subscriptions.interrupted()
      },
      (error: unknown) => {
        if (!this.#closing.signal.aborted)
          this.#log.error(`The event stream could not be restored: ${messageOf(error)}`)
      },
    )
  }

  #want(text: string): void {
    const family = familyOf(text)
    if (this.#families.has('') || this.#families.has(family)) return
    this.#families.add(family)
    const asked = this.#connection?.want([...this.#families]).catch(() => {}) // the lost connection is reported as a gap
    if (asked) this.#granted = Promise.all([this.#granted, asked]).then(() => {})
  }

  #deliver(body: Uint8Array): void {
    try {
      this.#subscriptions.deliver(readEvent(body), body.length)
    } catch (error) {
      if (!SaltError.is(error)) throw error
    }
  }
}

/** Return the first two parts of a tag, as `salt/job/`, or all of a shorter text. */
const familyOf = (text: string): string => /^[^/]*\/[^/]*\//.exec(text)?.[0] ?? text
