import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { backoff } from '../base/backoff.ts'
import { type Deferred, deferred } from '../base/deferred.ts'
import { SaltError } from '../base/errors.ts'
import { connectLocal } from './connection.ts'
import { packFrame } from './frames.ts'

/** Time that a push waits for a publisher that restarts. */
const PATIENCE_MS = 5_000

interface Connection {
  readonly socket: Socket
  /** Confirmations that are awaited, oldest first. */
  readonly unconfirmed: Deferred<void>[]
}

/** Pushes events to the publisher over one connection, which is made at the first push or by `open`. */
export class EventPusher {
  readonly #address: string
  readonly #confirmed: boolean
  #connection: Promise<Connection> | undefined
  #closed = false

  constructor(address: string, confirmed = false) {
    this.#address = address
    this.#confirmed = confirmed
  }

  /** Connect before the first push, when the publisher may have no file descriptors left for a connection. */
  async open(): Promise<void> {
    await this.#connect()
  }

  /**
   * Push an event. Resolves when it is written to the socket. If `confirmed`: resolves when the publisher has confirmed it; if the
   * publisher ends before, it is pushed again, so an event may arrive twice but is not lost.
   * @throws SaltError MASTER_UNREACHABLE, PERMISSIONS or CANCELLED
   */
  async push(event: Uint8Array): Promise<void> {
    const frame = packFrame(event, this.#confirmed)
    const delays = backoff({ minMs: 20, maxMs: 500 })
    for (const deadline = performance.now() + PATIENCE_MS; ; ) {
      try {
        return await this.#send(await this.#connect(), frame)
      } catch (error) {
        const isFinal = SaltError.is(error) && error.code !== 'MASTER_UNREACHABLE'
        if (isFinal || performance.now() >= deadline) throw error
        await setTimeout(delays.next())
      }
    }
  }

  close(): void {
    this.#closed = true
    this.#connection?.then(({ socket }) => socket.end(() => socket.destroy())).catch(() => undefined)
  }

  #send({ socket, unconfirmed }: Connection, frame: Buffer): Promise<void> {
    corkForTurn(socket)
    if (!this.#confirmed) return write(socket, frame)
    if (!socket.writable) return Promise.reject(lost(this.#address))
    const confirmation = deferred()
    unconfirmed.push(confirmation)
    socket.write(frame)
    return confirmation.promise
  }

  #connect(): Promise<Connection> {
    if (this.#closed) {
      return Promise.reject(
        new SaltError('CANCELLED', 'The event was not sent: the event bus is being closed.'),
      )
    }
    this.#connection ??= this.#open()
    return this.#connection
  }

  #open(): Promise<Connection> {
    const forget = () => {
      if (this.#connection === opening) this.#connection = undefined
    }
    const opening = connectLocal(this.#address).then((socket) => {
      const unconfirmed: Deferred<void>[] = []
      socket.on('data', (confirmations: Buffer) => {
        for (const { resolve } of unconfirmed.splice(0, confirmations.length)) resolve()
      })
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        forget()
        for (const { reject } of unconfirmed) reject(lost(this.#address))
      })
      return { socket, unconfirmed }
    })
    opening.catch(forget)
    return opening
  }
}

/** Write the frames of this turn of the event loop at once. */
function corkForTurn(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}

const write = (socket: Socket, frame: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.write(frame, (error) => (error ? reject(error) : resolve()))
  })

const lost = (address: string): SaltError =>
  new SaltError('MASTER_UNREACHABLE', `The publisher of the event bus at ${address} closed the connection.`, {
    address,
  })
