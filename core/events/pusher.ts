import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { backoff } from '../base/backoff.ts'
import { type Deferred, deferred } from '../base/deferred.ts'
import { SaltError } from '../base/errors.ts'
import { connectLocal } from './connection.ts'
import { packFrame } from './frames.ts'

/** How long a push waits for a publisher that restarts. Milliseconds. */
const PATIENCE_MS = 5_000

interface Connection {
  readonly socket: Socket
  /** Of what was pushed and is not confirmed yet, oldest first. */
  readonly unconfirmed: Deferred<void>[]
}

/** Pushes events to the publisher over one connection, which is made when it is first needed, or before by `open`. */
export class Pusher {
  readonly #address: string
  readonly #confirmed: boolean
  #connection: Promise<Connection> | undefined
  #closed = false

  constructor(address: string, confirmed = false) {
    this.#address = address
    this.#confirmed = confirmed
  }

  /** Connect, so that the first push needs none: it may come when the publisher has no file left for a connection. */
  async open(): Promise<void> {
    await this.#connect()
  }

  /**
   * Resolves when the event is on its way. If `confirmed`: when the publisher says that it went out; one that dies before
   * it says so is sent it again, so that an event may come twice, but not never.
   * @throws SaltError MASTER_UNREACHABLE, PERMISSIONS or CANCELLED
   */
  async push(event: Uint8Array): Promise<void> {
    const frame = packFrame(event, this.#confirmed)
    const delays = backoff({ minMs: 20, maxMs: 500 })
    for (const deadline = performance.now() + PATIENCE_MS; ; ) {
      try {
        return await this.#send(await this.#connect(), frame)
      } catch (error) {
        const hopeless = SaltError.is(error) && error.code !== 'MASTER_UNREACHABLE'
        if (hopeless || performance.now() >= deadline) throw error
        await setTimeout(delays.next())
      }
    }
  }

  close(): void {
    this.#closed = true
    this.#connection?.then(({ socket }) => socket.end(() => socket.destroy())).catch(() => undefined)
  }

  #send({ socket, unconfirmed }: Connection, frame: Buffer): Promise<void> {
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

const write = (socket: Socket, frame: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.write(frame, (error) => (error ? reject(error) : resolve()))
  })

const lost = (address: string): SaltError =>
  new SaltError('MASTER_UNREACHABLE', `The publisher of the event bus at ${address} went away.`, { address })
