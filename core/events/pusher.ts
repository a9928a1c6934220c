import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { backoff } from '../base/backoff.ts'
import { SaltError } from '../base/errors.ts'
import { connectLocal } from './connection.ts'

/** How long a push waits for a publisher that restarts. Milliseconds. */
const PATIENCE_MS = 5_000

/** Pushes frames to the publisher over one connection, which is made when it is needed. */
export class Pusher {
  readonly #address: string
  #connection: Promise<Socket> | undefined
  #closed = false

  constructor(address: string) {
    this.#address = address
  }

  /** Resolves when the frame is on its way. @throws SaltError MASTER_UNREACHABLE, PERMISSIONS or CANCELLED */
  async push(frame: Buffer): Promise<void> {
    const delays = backoff({ minMs: 20, maxMs: 500 })
    for (const deadline = performance.now() + PATIENCE_MS; ; ) {
      try {
        return await write(await this.#connect(), frame)
      } catch (error) {
        const hopeless = SaltError.is(error) && error.code !== 'MASTER_UNREACHABLE'
        if (hopeless || performance.now() >= deadline) throw error
        await setTimeout(delays.next())
      }
    }
  }

  close(): void {
    this.#closed = true
    this.#connection?.then((socket) => socket.end(() => socket.destroy())).catch(() => undefined)
  }

  #connect(): Promise<Socket> {
    if (this.#closed) {
      return Promise.reject(
        new SaltError('CANCELLED', 'The event was not sent: the event bus is being closed.'),
      )
    }
    this.#connection ??= this.#open()
    return this.#connection
  }

  #open(): Promise<Socket> {
    const forget = () => {
      if (this.#connection === opening) this.#connection = undefined
    }
    const opening = connectLocal(this.#address).then((socket) => {
      socket.on('error', () => socket.destroy())
      socket.on('close', forget)
      socket.resume()
      return socket
    })
    opening.catch(forget)
    return opening
  }
}

const write = (socket: Socket, frame: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.write(frame, (error) => (error ? reject(error) : resolve()))
  })
