import type { Socket } from 'node:net'
import { encodeNetwork, StreamDecoder } from '../../codec/index.ts'
import { MAX_MESSAGE_BYTES } from '../../wire/message-size.ts'
import type { ClientSettings, ServerSettings } from '../contract.ts'
import type { Link, LinkListener, Message } from '../stream/contract.ts'
import { setKeepAlive } from '../stream/keep-alive.ts'
import { packFrame, readFrame } from './framing.ts'

/** A sign of life: a frame that salt-ts sends only to peers that ask for it. */
const PING_HEAD = encodeNetwork({ ping: true })
const PING: Message = { head: PING_HEAD, body: encodeNetwork(null) }

/** A socket, of TCP or TLS, that carries frames. */
export class SocketLink implements Link {
  readonly #socket: Socket
  readonly #listener: LinkListener
  unsent = 0

  /** `listener` hears of the socket from now on. */
  constructor(
    socket: Socket,
    { keepAlive, maxFrameSize = MAX_MESSAGE_BYTES }: ServerSettings | ClientSettings,
    listen: (link: Link) => LinkListener,
  ) {
    this.#socket = socket
    this.#listener = listen(this)
    const decoder = new StreamDecoder(readFrame, maxFrameSize)
    socket.setNoDelay(true)
    setKeepAlive(socket, keepAlive)
    socket.on('data', (chunk: Buffer) => this.#read(chunk, decoder))
    let problem: Error | undefined
    socket.on('error', (error) => {
      problem = error
    })
    socket.on('close', () => this.#listener.onClose(problem))
  }

  get unsentBytes(): number {
    return this.#socket.writableLength
  }

  get sentBytes(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength
  }

  send(message: Message): void {
    const socket = this.#socket
    if (!socket.writable) return
    this.unsent++
    const [start, body] = packFrame(message)
    socket.cork()
    socket.write(start)
    socket.write(body, () => {
      this.unsent--
    })
    socket.uncork()
  }

  ping(): void {
    this.send(PING)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  end(): void {
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Read a chunk. A stream that cannot be decoded, or has a frame that is too large, is closed. */
  #read(chunk: Buffer, decoder: StreamDecoder<Message>): void {
    this.#listener.onActivity?.()
    try {
      for (const message of decoder.push(chunk))
        if (!PING_HEAD.equals(message.head)) this.#listener.onMessage(message)
    } catch (error) {
      this.#socket.destroy(error as Error)
    }
  }
}
