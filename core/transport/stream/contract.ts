import type { ClientSettings, ServerSettings } from '../contract.ts'

/** A message between two ends of a connection. */
export interface Message {
  /** A MessagePack map that the answer to a request repeats; empty if there is none. */
  readonly head: Uint8Array
  /** A MessagePack value. */
  readonly body: Uint8Array
}

/** One end of a connection that carries messages. */
export interface Link {
  /** Send a message. It is dropped if the connection is lost. */
  send(message: Message): void
  /** Send a sign of life, which is not a message. */
  ping(): void
  /** Messages that the system has not taken yet, and their bytes. */
  readonly unsent: number
  readonly unsentBytes: number
  /** Number of bytes that were sent so far. */
  readonly sentBytes: number
  /** Stop and resume reading. */
  pause(): void
  resume(): void
  /** Send the queued messages, then close. */
  end(): void
  /** Close at once. */
  destroy(): void
}

export interface LinkListener {
  onMessage(message: Message): void
  /** Called for every piece of data that arrives, signs of life included. */
  onActivity?(): void
  /** Called once, also if the connection was never established. */
  onClose(error?: Error): void
}

export interface ConnectListener extends LinkListener {
  /** Something listens at the address; the handshake has not been completed. */
  onReached?(): void
  onOpen(): void
}

export interface Listening {
  readonly port: number
  /** While true, new connections are ended at once. */
  isRefusing: boolean
  /** Stop accepting connections. The existing ones stay open. */
  close(): void
}

/** A way to carry messages over TCP connections. */
export interface StreamProtocol {
  readonly name: string
  /** Whether answers repeat the head of their request. */
  readonly hasHeads: boolean
  /** Listen on a port. `accept` is called for each connection. @throws SaltError ADDRESS_IN_USE, PERMISSIONS or CONFIG_INVALID */
  listen(settings: ServerSettings, accept: (link: Link) => LinkListener): Promise<Listening>
  connect(settings: ClientSettings, listener: ConnectListener): Link
}
