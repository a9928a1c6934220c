import { createServer, type Server, type Socket } from 'node:net'
import type { Log } from '../author/context.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { decode } from '../codec/index.ts'
import type { PublicKey, SymmetricKey } from '../crypto/index.ts'
import {
  deriveDirections,
  FRAME_KINDS,
  FrameCutter,
  HANDSHAKE_MS,
  HEARTBEAT_MS,
  MAX_CLEAR_FRAME_BYTES,
  newStreamNonce,
  packGreeting,
  readClaim,
  readProof,
  type SealedDirection,
  SILENCE_MS,
  type StreamFrame,
} from './event-stream.ts'

export interface EventStreamSettings {
  readonly host: string
  readonly port: number
  /** Return the session that a client with this id must prove to hold; undefined if it may not read events. */
  session(
    id: string,
  ): Promise<{ readonly key: SymmetricKey; readonly owner: PublicKey; readonly used: boolean } | undefined>
  /** Whether that key is still accepted; called every second. */
  mayStay(id: string, owner: PublicKey): boolean
  readonly log: Log
  /** Bytes a reader may lag behind before it is disconnected. */
  readonly maxBacklog?: number
}

const MAX_BACKLOG_BYTES = 64 * 1024 * 1024
/** Maximum connections without proof, in total and per address, and of authenticated readers. */
const MAX_UNPROVEN = 64
const MAX_UNPROVEN_PER_ADDRESS = 8
const MAX_READERS = 256
const MAX_TAG_PREFIXES = 10_000
const CHECK_INTERVAL_MS = 1_000

interface Reader {
  readonly id: string
  readonly owner: PublicKey
  readonly socket: Socket
  readonly toClient: SealedDirection
  /** Tag prefixes the reader subscribed to. */
  wanted: readonly string[]
  /** Time of the last frame received, and of the last one sent, by `performance.now()`. */
  lastReceivedAt: number
  lastSentAt: number
}

/** A connection whose client has proved its identity. */
interface ProvedConnection {
  readonly reader: Reader
  readonly toServer: SealedDirection
}

/** A connection from its beginning. */
interface Connection {
  readonly socket: Socket
  readonly address: string
  readonly nonce: ReturnType<typeof newStreamNonce>
  readonly cutter: FrameCutter
  /** Ends the connection if the handshake takes too long. */
  readonly deadline: NodeJS.Timeout
  /** Whether the client has sent its claim. */
  hasClaimed: boolean
  proved: ProvedConnection | undefined
}

/** Events of the master's bus over TCP, for clients of the API on other hosts (docs/wire-additions.md). */
export class EventStreamServer {
  readonly #settings: EventStreamSettings
  readonly #server: Server
  readonly #unproved = new Map<Socket, string>()
  readonly #readers = new Set<Reader>()
  #checking: NodeJS.Timeout | undefined

  private constructor(settings: EventStreamSettings) {
    this.#settings = settings
    this.#server = createServer((socket) => this.#welcome(socket))
  }

  /** @throws SaltError ADDRESS_IN_USE, CONFIG_INVALID */
  static async open(settings: EventStreamSettings): Promise<EventStreamServer> {
    const stream = new EventStreamServer(settings)
    const { host, port, log } = settings
    await new Promise<void>((resolve, reject) => {
      stream.#server.once('error', (error) => reject(cannotListen(settings, error)))
      stream.#server.listen({ host: host === '*' ? '::' : host, port }, resolve)
    })
    stream.#server.on('error', (error) =>
      log.error(`The server of the event stream failed: ${error.message}`),
    )
    stream.#checking = setInterval(() => stream.#check(), CHECK_INTERVAL_MS)
    return stream
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address ? address.port : this.#settings.port
  }

  get readers(): number {
    return this.#readers.size
  }

  /** Send an event to all readers subscribed to it. `body` is encoded as on the bus. */
  publish(tag: string, body: Uint8Array): void {
    for (const reader of this.#readers) {
      if (!reader.wanted.some((text) => tag.startsWith(text))) continue
      this.#send(reader, FRAME_KINDS.event, body)
      if (reader.socket.writableLength > (this.#settings.maxBacklog ?? MAX_BACKLOG_BYTES))
        this.#cut(reader, 'it does not keep up with the events')
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#checking)
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#unproved.keys()) socket.destroy()
    for (const { socket } of this.#readers) socket.destroy()
    await closed
  }

  #welcome(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    socket.on('error', () => socket.destroy())
    if (this.#isFull(address)) {
      socket.destroy()
      return
    }
    const connection: Connection = {
      socket,
      address,
      nonce: newStreamNonce(),
      cutter: new FrameCutter(),
      deadline: setTimeout(() => socket.destroy(), HANDSHAKE_MS),
      hasClaimed: false,
      proved: undefined,
    }
    this.#unproved.set(socket, address)
    socket.on('close', () => {
      clearTimeout(connection.deadline)
      this.#unproved.delete(socket)
      if (connection.proved) this.#readers.delete(connection.proved.reader)
    })
    socket.on('data', (chunk) => {
      try {
        this.#read(connection, chunk)
      } catch (error) {
        this.#refuse(connection, error)
      }
    })
    socket.setNoDelay(true)
    socket.write(packGreeting(connection.nonce))
  }

  /** Whether there are too many readers or unproved connections, in total or from this address. */
  #isFull(address: string): boolean {
    const addresses = [...this.#unproved.values()]
    const fromSame = addresses.filter((other) => other === address)
    return (
      addresses.length >= MAX_UNPROVEN ||
      this.#readers.size >= MAX_READERS ||
      fromSame.length >= MAX_UNPROVEN_PER_ADDRESS
    )
  }

  /** Read a chunk: the claim of the client, and after the handshake its sealed frames. */
  #read(connection: Connection, chunk: Buffer): void {
    const maxBytes = () => MAX_CLEAR_FRAME_BYTES * (connection.proved ? 1024 : 1)
    for (const payload of connection.cutter.push(chunk, maxBytes)) {
      if (connection.proved) this.#open(connection, connection.proved, payload)
      else if (connection.hasClaimed)
        throw refused('it sent a second frame before the handshake was complete')
      else {
        connection.hasClaimed = true
        this.#prove(connection, payload).catch((error: unknown) => this.#refuse(connection, error))
      }
    }
  }

  /** Verify the claim of a client, and begin to send it events. */
  async #prove(connection: Connection, payload: Buffer): Promise<void> {
    const { socket, address, nonce } = connection
    const claim = readClaim(payload)
    const session = claim && (await this.#settings.session(claim.id))
    const clientNonce = session && readProof(claim.proof, session.key, nonce)
    if (!clientNonce || socket.destroyed)
      throw refused('it did not prove that it holds a current session key')
    const { toClient, toServer } = deriveDirections(session.key, nonce, clientNonce)
    const now = performance.now()
    const reader: Reader = {
      id: claim.id,
      owner: session.owner,
      socket,
      toClient,
      wanted: [],
      lastReceivedAt: now,
      lastSentAt: now,
    }
    connection.proved = { reader, toServer }
    this.#readers.add(reader)
    this.#settings.log.info(`${claim.id} at ${address} reads events`)
    this.#send(reader, FRAME_KINDS.heartbeat)
  }

  /** Open a sealed frame. The first one completes the handshake; one that is not genuine ends the connection. */
  #open({ socket, deadline }: Connection, { reader, toServer }: ProvedConnection, payload: Buffer): void {
    clearTimeout(deadline)
    this.#unproved.delete(socket)
    this.#take(reader, toServer.open(payload))
  }

  #refuse({ socket, address, proved }: Connection, error: unknown): void {
    const who = proved?.reader.id ?? address
    this.#settings.log.debug(`Closed a connection to the event stream (${who}): ${messageOf(error)}`)
    socket.destroy()
  }

  #take(reader: Reader, { kind, payload }: StreamFrame): void {
    reader.lastReceivedAt = performance.now()
    if (kind !== FRAME_KINDS.want) return
    const wanted = decode(payload)
    if (!Array.isArray(wanted) || wanted.length > MAX_TAG_PREFIXES || !wanted.every(isText))
      throw new SaltError('DECODE_FAILED', 'the subscription must be a list of tag prefixes')
    reader.wanted = wanted
    this.#send(reader, FRAME_KINDS.granted)
  }

  #send(reader: Reader, kind: number, payload?: Uint8Array): void {
    reader.lastSentAt = performance.now()
    reader.socket.write(reader.toClient.seal(kind, payload))
  }

  #check(): void {
    const now = performance.now()
    for (const reader of this.#readers) {
      if (!this.#settings.mayStay(reader.id, reader.owner)) this.#cut(reader, 'its key is no longer accepted')
      else if (now - reader.lastReceivedAt > SILENCE_MS)
        this.#cut(reader, `nothing was received for ${SILENCE_MS / 1000} s`)
      else if (now - reader.lastSentAt > HEARTBEAT_MS) this.#send(reader, FRAME_KINDS.heartbeat)
    }
  }

  #cut(reader: Reader, reason: string): void {
    this.#settings.log.warn(`Disconnected ${reader.id} from the event stream: ${reason}.`)
    this.#readers.delete(reader)
    reader.socket.destroy()
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

function cannotListen({ host, port }: EventStreamSettings, error: NodeJS.ErrnoException): SaltError {
  const code = error.code === 'EADDRINUSE' ? 'ADDRESS_IN_USE' : 'CONFIG_INVALID'
  return new SaltError(
    code,
    `The event stream cannot listen on port ${port} of ${host} (event_stream_port): ${messageOf(error)}.`,
    { host, port },
  )
}

const refused = (reason: string) => new SaltError('AUTHENTICATION_FAILED', reason)
