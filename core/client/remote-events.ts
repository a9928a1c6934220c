import type { Log } from '../author/context.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { connectStream, type StreamConnection } from '../channel/event-stream-client.ts'
import { type Match, readEvent, type SubscribeOptions, Subscriptions } from '../events/index.ts'
import type { MasterEvents } from './master-link.ts'
import type { RemoteMaster } from './remote-master.ts'
import type { RemoteSignIn } from './remote-sign-in.ts'
import { untilMaster } from './until-master.ts'

const RETRY = { minMs: 200, maxMs: 5_000 }

/**
 * The events of a master on another host. The master is asked for families of tags, as `salt/job/`, since ids of jobs are
 * known too late to ask for them. Connects again when the connection is lost, and tells subscribers of the gap.
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

  /** Events come for all that has been subscribed to; or there is no connection, and the gap will be told. */
  ready(): Promise<void> {
    return this.#granted
  }

  /** Resolves when connected, and connects again when that is lost. Rejects if this is not the master that is known. */
  open(): Promise<void> {
    const { signal } = this.#closing
    return untilMaster(() => this.#connect(), { retry: RETRY, log: this.#log, signal })
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
      ...{ host, port, id, session: credentials.request },
      onEvent: (body: Uint8Array) => this.#deliver(body),
      onEnd: (why: string) => {
        this.#connection = undefined
        if (isUp) this.#lost(why) // who waits for it to be up tries again
      },
    }
    try {
      const connection = await connectStream(settings)
      if (this.#closing.signal.aborted) return connection.close()
      this.#connection = connection
      await connection.want([...this.#families])
      isUp = true
    } catch (error) {
      // The session may be over; where the key is no longer accepted, that says so.
      if (SaltError.is(error) && error.code === 'AUTHENTICATION_FAILED') await this.#signIn.renew(credentials)
      throw error
    }
  }

  #lost(why: string): void {
    if (this.#closing.signal.aborted) return
    this.#log.warn(`The event stream of ${this.#master.host} is lost: ${why}. Connecting again.`)
    this.open().then(
      () => {
        this.#log.info(`The event stream of ${this.#master.host} is back`)
        this.#subscriptions.interrupted()
      },
      (error: unknown) => {
        if (!this.#closing.signal.aborted) this.#log.error(`No events any more: ${messageOf(error)}`)
      },
    )
  }

  #want(text: string): void {
    const family = familyOf(text)
    if (this.#families.has('') || this.#families.has(family)) return
    this.#families.add(family)
    const asked = this.#connection?.want([...this.#families]).catch(() => {}) // the gap is told then
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

/** The first two parts of a tag, as `salt/job/`, or all of a shorter text. */
const familyOf = (text: string): string => /^[^/]*\/[^/]*\//.exec(text)?.[0] ?? text
