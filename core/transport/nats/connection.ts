import { setTimeout as delay } from 'node:timers/promises'
import { connect, credsAuthenticator, type Msg, type NatsConnection, nuid } from '@nats-io/transport-node'
import { deferred } from '../../base/deferred.ts'
import { serverIdentityCheck } from '../../base/net/server-identity.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import { ConnectionState } from '../connection-state.ts'
import {
  connectionLost,
  connectionProblem,
  refusesCredentials,
  serverProblem,
  unreachable,
} from './errors.ts'
import { Roster } from './roster.ts'
import type { NatsSettings } from './settings.ts'
import { subjectsOf } from './subjects.ts'

const CONNECT_TIMEOUT_MS = 5_000
/** Time that a starting master waits for NATS. */
const FIRST_CONNECTION_MS = 10_000
/** Delay between attempts: the base, plus a random time. */
const RECONNECT_MS = 250
const RECONNECT_JITTER_MS = 1_000
/** Interval of pings. A server that leaves two of them unanswered is dead. */
const PING_MS = 4_000
const MAX_PINGS_OUT = 2
/** How long messages that are queued are still sent when a user closes. */
const FLUSH_MS = 1_000

/** A use of the connection that all servers and clients of a process share. */
export interface Lease {
  /** Resolves when there is a connection, which is then renewed whenever it is lost. Stays pending after `release`. */
  readonly ready: Promise<NatsConnection>
  readonly state: ConnectionState
  readonly roster: Roster
  /** Why there is no connection. */
  readonly problem: string | undefined
  /** Resolves with the problem when an attempt to connect fails, or at once if the latest one has. */
  readonly failure: Promise<string>
  /** Wait for the connection as long as a starting master does. @throws SaltError MASTER_UNREACHABLE */
  awaitFirst(): Promise<NatsConnection>
  release(): Promise<void>
}

/** Connects to NATS while there are users. */
export class SharedConnection {
  readonly #nats: NatsSettings
  readonly #onProblem: (sentence: string) => void
  #open: OpenConnection | undefined
  #users = 0

  /** `onProblem` is called with a log message when NATS cannot be reached or refuses something, the same one once in a while. */
  constructor(nats: NatsSettings, onProblem: (sentence: string) => void) {
    this.#nats = nats
    this.#onProblem = onceInAWhile(onProblem)
  }

  acquire(): Lease {
    this.#open ??= new OpenConnection(this.#nats, this.#onProblem)
    this.#users++
    const open = this.#open
    let isReleased = false
    const release = async () => {
      if (isReleased) return
      isReleased = true
      if (--this.#users > 0) return
      this.#open = undefined
      await open.close()
    }
    const awaitFirst = async () => {
      await endsWithin(Promise.race([open.ready, open.refusal]), FIRST_CONNECTION_MS)
      if (open.state.isUp) return open.ready
      await release()
      throw unreachable(this.#nats, open.problem ?? connectionProblem(this.#nats, 'no answer'))
    }
    return {
      ready: open.ready,
      state: open.state,
      roster: open.roster,
      get problem() {
        return open.problem
      },
      get failure() {
        return open.failure
      },
      awaitFirst,
      release,
    }
  }
}

class OpenConnection {
  readonly #nats: NatsSettings
  readonly #onProblem: (sentence: string) => void
  readonly #ready = deferred<NatsConnection>()
  #failed = deferred<string>()
  readonly #refused = deferred()
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  readonly state = new ConnectionState()
  readonly roster = new Roster()
  problem: string | undefined

  constructor(nats: NatsSettings, onProblem: (sentence: string) => void) {
    this.#nats = nats
    this.#onProblem = onProblem
    this.#ended = this.#keepConnected()
  }

  get ready(): Promise<NatsConnection> {
    return this.#ready.promise
  }

  get failure(): Promise<string> {
    return this.#failed.promise
  }

  /** Resolves when a server refuses the credentials. */
  get refusal(): Promise<void> {
    return this.#refused.promise
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#ended
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing
    const closed = deferred()
    signal.addEventListener('abort', () => closed.resolve(), { once: true })
    const connection = await this.#connect()
    if (!connection) return
    this.#ready.resolve(connection)
    this.#isConnected()
    void this.#follow(connection)
    if (!signal.aborted) await closed.promise
    this.state.set('down')
    await flush(connection)
    await connection.close()
  }

  async #connect(): Promise<NatsConnection | undefined> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        return await connect(connectionOptions(this.#nats))
      } catch (error) {
        this.#failed.resolve(this.#report(error))
        if (refusesCredentials(error)) this.#refused.resolve()
        const wait = RECONNECT_MS + Math.random() * RECONNECT_JITTER_MS
        await delay(wait, undefined, { signal }).catch(() => undefined)
      }
    }
    return undefined
  }

  #report(error: unknown): string {
    this.problem = connectionProblem(this.#nats, error)
    this.#onProblem(this.problem)
    return this.problem
  }

  async #follow(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      const isClosing = this.#closing.signal.aborted
      if (status.type === 'disconnect' && !isClosing) this.#isLost()
      else if (status.type === 'reconnect' && !isClosing) this.#isConnected()
      else if (status.type === 'error') this.#onProblem(serverProblem(this.#nats, status.error))
    }
  }

  #isConnected(): void {
    this.problem = undefined
    this.#failed = deferred()
    this.state.set('up')
  }

  #isLost(): void {
    this.problem = connectionLost(this.#nats)
    this.#onProblem(this.problem)
    this.state.set('down')
  }
}

/** Make the options of a subscription whose messages go to `take`. The connection reports it if the server refuses the subscription. */
export const messagesTo = (take: (message: Msg) => void) => ({
  callback: (error: Error | null, message: Msg) => void (error ?? take(message)),
})

/** Wait until the server has received all that was sent, but only for a limited time. */
export async function flush(connection: NatsConnection): Promise<void> {
  await endsWithin(connection.flush(), FLUSH_MS).catch(() => false)
}

function connectionOptions(nats: NatsSettings) {
  const { servers, prefix, user, password, token, credentials, tls } = nats
  return {
    servers: [...servers],
    name: `salt-ts ${nuid.next()}`,
    inboxPrefix: subjectsOf(prefix).inbox,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { pass: password }),
    ...(token !== undefined && { token }),
    ...(credentials && { authenticator: credsAuthenticator(credentials) }),
    ...(tls && { tls: { ...tls, checkServerIdentity: serverIdentityCheck(servers) } }),
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    reconnectJitterTLS: RECONNECT_JITTER_MS,
    pingInterval: PING_MS,
    maxPingOut: MAX_PINGS_OUT,
    ignoreAuthErrorAbort: true,
  }
}
