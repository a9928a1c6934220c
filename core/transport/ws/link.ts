import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import type { Link, LinkListener, Message } from '../stream/contract.ts'
import { isFrame, packFrame, readFrame } from '../tcp/framing.ts'

const NO_HEAD = Buffer.alloc(0)
/** Length of an empty map. */
const EMPTY_HEAD = 1

/** A WebSocket that carries messages: the body alone, or a frame for a message with a head. */
export class WebSocketLink implements Link {
  readonly #websocket: WebSocket
  readonly #listener: LinkListener
  #socket: Socket | undefined
  unsent = 0

  constructor(websocket: WebSocket, listen: (link: Link) => LinkListener) {
    this.#websocket = websocket
    this.#listener = listen(this)
    websocket.on('message', (data, isBinary) => isBinary && this.#read(data))
    let problem: Error | undefined
    websocket.on('error', (error) => {
      problem = error
    })
    websocket.on('close', () => this.#listener.onClose(problem))
  }

  /** Set the socket below, once it is known. */
  set socket(socket: Socket) {
    this.#socket = socket
    socket.on('data', () => this.#listener.onActivity?.())
  }

  get unsentBytes(): number {
    return this.#websocket.bufferedAmount
  }

  get sentBytes(): number {
    return (this.#socket?.bytesWritten ?? 0) - (this.#socket?.writableLength ?? 0)
  }

  send(message: Message): void {
    if (this.#websocket.readyState !== this.#websocket.OPEN) return
    this.unsent++
    const { head, body } = message
    const bytes = head.length > EMPTY_HEAD ? Buffer.concat(packFrame(message)) : body
    this.#websocket.send(bytes, { binary: true }, () => {
      this.unsent--
    })
  }

  ping(): void {
    if (this.#websocket.readyState === this.#websocket.OPEN) this.#websocket.ping()
  }

  pause(): void {
    this.#websocket.pause()
  }

  resume(): void {
    this.#websocket.resume()
  }

  end(): void {
    this.#websocket.close()
  }

  destroy(): void {
    this.#websocket.terminate()
  }

  #read(data: RawData): void {
    const bytes = data as Buffer // as the default binaryType has it
    try {
      this.#listener.onMessage(isFrame(bytes) ? readFrame(bytes) : { head: NO_HEAD, body: bytes })
    } catch {
      this.destroy()
    }
  }
}
