/**
 * Bytes between peers. Protocol code never learns which transport carries them; a transport is one folder beside
 * this file that passes `test/contract/transport`. Addresses are `host` and `port` (for `memory` any text and number).
 */

/** Answers requests, one frame in, one frame out (wire protocol §4). */
export interface RequestServer {
  /**
   * Starts taking requests; called once. `answer` never rejects; what it gives is sent back to who asked.
   * Requests that came before are answered too. Several are under way at once.
   */
  serve(answer: (request: Uint8Array) => Promise<Uint8Array>): void
  readonly port: number
  /** Takes no more requests, gives those under way a moment to be answered, and frees the port. */
  close(): Promise<void>
}

/** Asks one server. Requests may be under way at once; each answer reaches its own request. */
export interface RequestClient {
  /**
   * Rejects with `SaltError` code TIMEOUT after `timeoutMs`, CANCELLED when closed; where the transport can tell,
   * MASTER_UNREACHABLE as soon as the connection is lost and no answer can come.
   */
  request(frame: Uint8Array, timeoutMs: number): Promise<Uint8Array>
  close(): Promise<void>
}

/** Sends publications to every subscriber (wire protocol §9). */
export interface PublishServer {
  /**
   * With a topic two frames [topic, payload] are sent to subscribers of that topic; without, one frame to all.
   * A payload is a MessagePack map (§9). Waits a moment for a full subscriber, then goes on without it.
   */
  publish(payload: Uint8Array, topic?: string): Promise<void>
  /** Connected subscribers that ask for everything or for the topic `broadcast`, as all of Salt's do. */
  readonly subscribers: number
  /** Topics somebody asks for now. */
  readonly topics: ReadonlySet<string>
  /** Publications that a slow peer did not get, as far as the transport can tell: at least one each time one fell behind. */
  readonly dropped: number
  readonly port: number
  close(): Promise<void>
}

/** Receives publications: every payload addressed to one of the topics, or sent without topic. */
export interface PublishClient extends AsyncIterable<Uint8Array> {
  /**
   * `up` after each (re)connection, `down` when the connection is lost or half-open.
   * A listener that comes when the connection is up already is told so.
   */
  onConnection(listener: (state: 'up' | 'down') => void): void
  close(): Promise<void>
}

export interface KeepAlive {
  /** Seconds; -1 leaves the system's value. */
  readonly idle: number
  readonly count: number
  readonly interval: number
}

export interface ServerSettings {
  readonly host: string
  /** 0 picks a free one; see `port` of the server. */
  readonly port: number
  readonly ipv6?: boolean
  readonly backlog?: number
  /** Frames larger than this (bytes) close the connection they come from. */
  readonly maxFrameSize?: number
  /** Messages queued per subscriber before they are dropped. */
  readonly highWaterMark?: number
  /** False leaves all to the system. */
  readonly keepAlive?: KeepAlive | false
  /** Called with a sentence when new connections are refused because this process may not open more files. */
  readonly onFull?: (sentence: string) => void
  /** Called with a sentence when that is over. */
  readonly onRoom?: (sentence: string) => void
}

export interface ClientSettings {
  readonly host: string
  readonly port: number
  readonly ipv6?: boolean
  /** False leaves all to the system. */
  readonly keepAlive?: KeepAlive | false
  readonly maxFrameSize?: number
  readonly sourceAddress?: string
}

export interface RequestSettings extends ClientSettings {
  /** Where nothing listens at the address, requests reject at once with MASTER_UNREACHABLE; else they wait until something does. */
  readonly impatient?: boolean
}

export interface SubscribeSettings extends ClientSettings {
  /** The minion id: identity of the socket. */
  readonly identity: string
  /** Topics to ask for; publications without topic are received as well. Empty, or with `''` among them: everything. */
  readonly topics: readonly string[]
  /** Publications under any other topic are ignored. By default `topics`, unless that is everything. */
  readonly addressed?: readonly string[]
  /** Milliseconds before the first and at most before later reconnections. */
  readonly reconnectMs?: number
  readonly reconnectMaxMs?: number
}

export interface Transport {
  readonly name: string
  /** Whether it joins processes, or only peers within one. */
  readonly reach: 'network' | 'process'
  serveRequests(settings: ServerSettings): Promise<RequestServer>
  connectRequests(settings: RequestSettings): RequestClient
  servePublish(settings: ServerSettings): Promise<PublishServer>
  subscribe(settings: SubscribeSettings): Promise<PublishClient>
}
