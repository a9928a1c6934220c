/**
 * The interface of transports. Protocol code does not depend on a particular one; a transport is a directory beside this file
 * that passes `test/contract/transport`. Addresses are `host` and `port` (for `memory` any text and number).
 */

/** A request as it arrived (wire protocol §4). */
export interface IncomingRequest {
  readonly payload: Buffer
  /** Identifies the connection that it arrived on. */
  readonly client: string
  /** Send the answer. Nothing happens if the connection is lost. Called once. */
  reply(answer: Uint8Array): void
}

/** Receives the requests to one port. */
export interface RequestPort {
  readonly port: number
  /**
   * Start to receive requests; called once. Those that arrived earlier are received, too. Nothing further is read from a
   * connection while `take` is pending for one of its requests.
   */
  receive(take: (request: IncomingRequest) => void | Promise<void>): void
  /** Stop receiving requests, send the answers that are queued, and free the port. */
  close(): Promise<void>
}

/** Answers requests, one frame in, one frame out (wire protocol §4). See `serve-requests.ts`. */
export interface RequestServer {
  /**
   * Start to serve requests; called once. `answer` never rejects; its result is sent to the client. Requests that arrived
   * earlier are served, too. Several may be pending at once.
   */
  serve(answer: (request: Uint8Array) => Promise<Uint8Array>): void
  readonly port: number
  /** Stop accepting requests, wait a moment for pending answers, and free the port. */
  close(): Promise<void>
}

/** Sends requests to one server. Several may be pending at once; each receives its own answer. */
export interface RequestClient {
  /**
   * Send a request. Rejects with `SaltError` code TIMEOUT after `timeoutMs`, CANCELLED if the client is closed, and, if the
   * transport detects that, MASTER_UNREACHABLE as soon as the connection is lost. If an address has several servers, `to` is the name
   * of the one that takes it, by default any does; rejects with MASTER_GONE, without having sent it, if that one is not there.
   */
  request(frame: Uint8Array, timeoutMs: number, to?: string): Promise<Uint8Array>
  /**
   * Return the name of a server that takes a request: the wanted one if it may be there, else another one; undefined if none is known, or
   * the address has but one.
   */
  choose?(wanted?: string): string | undefined
  close(): Promise<void>
}

/** Sends publications to every subscriber (wire protocol §9). */
export interface PublishServer {
  /**
   * Publish a MessagePack map (wire protocol §9). With a topic, two frames [topic, payload] are sent to its subscribers;
   * without one, a single frame to all. Waits a moment for a subscriber whose queue is full, then skips it.
   */
  publish(payload: Uint8Array, topic?: string): Promise<void>
  /** Number of connected subscribers to everything or to the topic `broadcast`, as all of Salt's are. */
  readonly subscribers: number
  /** Topics with subscribers. */
  readonly topics: ReadonlySet<string>
  /**
   * Publications that slow peers did not receive, as far as the transport detects it: at least one each time a peer
   * falls behind.
   */
  readonly dropped: number
  readonly port: number
  close(): Promise<void>
}

/** Receives publications: every payload addressed to one of the topics, or sent without topic. */
export interface PublishClient extends AsyncIterable<Uint8Array> {
  /**
   * Add a listener: `up` after each (re)connection, `down` when the connection is lost or half-open. Called at once
   * with `up` if the connection is up already.
   */
  onConnection(listener: (state: 'up' | 'down') => void): void
  /** Names of the servers that publish now, where an address may have several. */
  readonly servers?: readonly string[]
  /** Add a listener, called when one more of them publishes. */
  onServer?(listener: () => void): void
  close(): Promise<void>
}

/** TCP keep-alive, with times in seconds; -1 leaves the system's value. */
export interface KeepAlive {
  readonly idle: number
  readonly count: number
  readonly interval: number
}

/** TLS (Salt's option `ssl`). Keys and certificates are PEM texts. */
export interface Tls {
  readonly key?: string
  readonly cert?: string
  /** Certificates of the authorities that the peer's certificate is verified with. */
  readonly ca?: string
  /** Whether the peer needs a valid certificate: `optional` verifies one if there is one. */
  readonly verify: 'required' | 'optional' | 'none'
  /** Whether a client checks that the certificate is for the host it connects to. */
  readonly checkHost?: boolean
  readonly ciphers?: string
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3'
}

export interface ServerSettings {
  readonly host: string
  /** 0 selects a free port; see `port` of the server. */
  readonly port: number
  readonly ipv6?: boolean
  readonly backlog?: number
  /** Largest frame, in bytes. A larger one closes its connection. */
  readonly maxFrameSize?: number
  /** Number of messages queued per subscriber before they are dropped. */
  readonly highWaterMark?: number
  /** False leaves the system's values. */
  readonly keepAlive?: KeepAlive | false
  readonly tls?: Tls | undefined
  /** Distinguishes this server from others of its address, where there may be several. */
  readonly name?: string
  /** The name that all servers of its address must have in common; without it there must be no others. */
  readonly group?: string | undefined
  /** Called with a log message when there is another server that is not of the group. */
  readonly onStranger?: (sentence: string) => void
  /**
   * Return the topics of the subscriber that sent this introduction, as minions of Python Salt do over TCP (wire protocol §18);
   * undefined if it is not valid.
   */
  identify?(introduction: Uint8Array): Promise<readonly string[] | undefined>
  /** Called with a log message when new connections are refused because this process may not open more files. */
  readonly onConnectionsRefused?: (sentence: string) => void
  /** Called with a log message when new connections are accepted again. */
  readonly onConnectionsAccepted?: (sentence: string) => void
}

export interface ClientSettings {
  readonly host: string
  readonly port: number
  readonly ipv6?: boolean
  /** False leaves the system's values. */
  readonly keepAlive?: KeepAlive | false
  readonly maxFrameSize?: number
  readonly sourceAddress?: string
  readonly tls?: Tls | undefined
}

export interface RequestSettings extends ClientSettings {
  /** Reject requests at once with MASTER_UNREACHABLE if nothing listens at the address, instead of waiting. */
  readonly failFast?: boolean
}

export interface SubscribeSettings extends ClientSettings {
  /** The identity of the socket: the minion id. */
  readonly identity: string
  /**
   * Topics to subscribe to; publications without topic are received as well. An empty list, or `''` in it, selects
   * everything.
   */
  readonly topics: readonly string[]
  /** Topics of the publications to accept; by default `topics`, unless that is everything. Others are ignored. */
  readonly addressed?: readonly string[]
  /** Return a MessagePack map that introduces this subscriber to a master of Python Salt (`tcp`). Called for each connection. */
  introduction?(): Promise<Uint8Array>
  /**
   * How soon a dead connection is detected: within 5 seconds, but then a publication that takes more than 3 seconds to arrive
   * ends the connection, too; by default within 23.
   */
  readonly heartbeat?: 'quick'
  /** Delay before the first reconnection, in milliseconds. */
  readonly reconnectMs?: number
  /**
   * Longest delay before later reconnections, in milliseconds; delays double up to it. With 0 each is random, between
   * `reconnectMs` and twice as long.
   */
  readonly reconnectMaxMs?: number
}

export interface Transport {
  readonly name: string
  /** Whether it connects processes, or only peers within one. */
  readonly reach: 'network' | 'process'
  openRequestPort(settings: ServerSettings): Promise<RequestPort>
  connectRequests(settings: RequestSettings): RequestClient
  servePublish(settings: ServerSettings): Promise<PublishServer>
  subscribe(settings: SubscribeSettings): Promise<PublishClient>
}
