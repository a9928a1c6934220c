import { type Msg, type NatsConnection, nuid, type Subscription } from '@nats-io/transport-node'
import { messagesTo } from './connection.ts'
import { Assembly, bytesOf, pieceHeaders, pieceSize } from './pieces.ts'

/** How long the other end may take to ask for the next piece, or to send it. */
const IDLE_MS = 30_000
const CHECK_MS = 5_000
/** Bytes of requests that are arriving, of all clients together. A request beyond that gets no answer. */
const MAX_INCOMING_BYTES = 512 * 1024 * 1024

/** An exchange in which a message goes in pieces. */
interface Transfer {
  /** Take the next request of the client. Returns whether more follow. */
  next(message: Msg): boolean
  /** Bytes received. */
  bytes: number
  lastUsed: number
}

/** The exchanges of a master in which messages go in pieces. */
export class Transfers {
  readonly #connection: NatsConnection
  readonly #inbox: string
  readonly #active = new Map<string, Transfer>()
  readonly #subscription: Subscription
  /** Bytes received by all of them. */
  #bytes = 0
  readonly #checking = setInterval(() => this.#endIdle(), CHECK_MS)

  /** `inbox`: the subject in front of those of the exchanges. */
  constructor(connection: NatsConnection, inbox: string) {
    this.#connection = connection
    this.#inbox = `${inbox}.${nuid.next()}`
    this.#subscription = connection.subscribe(
      `${this.#inbox}.*`,
      messagesTo((message) => this.#step(message.subject, message)),
    )
  }

  /** Receive a request, of which this is the first piece. `take` gets the whole, and the message to answer. */
  receive(first: Msg, length: number, take: (request: Buffer, last: Msg) => void): void {
    const assembly = new Assembly(length)
    const subject = this.#open((message) => {
      const piece = bytesOf(message)
      if (this.#bytes + piece.length > MAX_INCOMING_BYTES || !assembly.add(piece)) return false
      const { whole } = assembly
      if (whole) take(whole, message)
      else message.respond('', pieceHeaders({ next: subject }))
      return whole === undefined
    })
    this.#step(subject, first)
  }

  /** Answer a request. A large answer is kept until the client has asked for all of it. */
  answer(request: Msg, answer: Uint8Array): void {
    const size = pieceSize(this.#connection)
    if (answer.length <= size) {
      request.respond(answer)
      return
    }
    let sent = size
    const subject = this.#open((message) => {
      message.respond(answer.subarray(sent, sent + size), pieceHeaders({ next: subject }))
      sent += size
      return sent < answer.length
    })
    request.respond(answer.subarray(0, size), pieceHeaders({ length: answer.length, next: subject }))
  }

  close(): void {
    clearInterval(this.#checking)
    this.#subscription.unsubscribe()
    this.#active.clear()
  }

  #open(next: Transfer['next']): string {
    const subject = `${this.#inbox}.${nuid.next()}`
    this.#active.set(subject, { next, bytes: 0, lastUsed: performance.now() })
    return subject
  }

  #step(subject: string, message: Msg): void {
    const transfer = this.#active.get(subject)
    if (!transfer) return
    transfer.bytes += message.data.length
    this.#bytes += message.data.length
    transfer.lastUsed = performance.now()
    if (!transfer.next(message)) this.#end(subject, transfer)
  }

  #end(subject: string, { bytes }: Transfer): void {
    this.#active.delete(subject)
    this.#bytes -= bytes
  }

  #endIdle(): void {
    const oldest = performance.now() - IDLE_MS
    for (const [subject, transfer] of this.#active)
      if (transfer.lastUsed < oldest) this.#end(subject, transfer)
  }
}
