import { type Msg, type NatsConnection, nuid, type Subscription } from '@nats-io/transport-node'
import { messagesTo } from './connection.ts'
import { Assembly, pieceHeaders, pieceIn, pieceSize } from './pieces.ts'
import { RecentlyUsed } from './recently-used.ts'
import { isInInbox, type Subjects } from './subjects.ts'

/** Time limit for the other end to ask for the next piece, or to send it. */
const IDLE_MS = 30_000
/** Bytes of requests that are arriving and answers that are leaving, of all clients together. */
const MAX_BYTES = 512 * 1024 * 1024
const MAX_TRANSFERS = 10_000

/** Takes the next request of an exchange in which a message is sent in pieces. Returns whether more follow. */
type Next = (message: Msg) => boolean

/**
 * The exchanges of a master in which messages are sent in pieces. If there are too many, those that have been idle longest are
 * ended.
 */
export class Transfers {
  readonly #connection: NatsConnection
  readonly #subjects: Subjects
  readonly #inbox: string
  readonly #active = new RecentlyUsed<Next>({
    maxEntries: MAX_TRANSFERS,
    maxBytes: MAX_BYTES,
    idleMs: IDLE_MS,
  })
  readonly #subscription: Subscription

  constructor(connection: NatsConnection, subjects: Subjects) {
    this.#connection = connection
    this.#subjects = subjects
    this.#inbox = `${subjects.inbox}.${nuid.next()}`
    this.#subscription = connection.subscribe(
      `${this.#inbox}.*`,
      messagesTo((message) => this.#step(message.subject, message)),
    )
  }

  /**
   * Receive a request that comes in pieces; `first` is the first one. `take` gets the whole request and the message to answer.
   */
  receive(first: Msg, length: number, take: (request: Buffer, last: Msg) => void): void {
    const assembly = new Assembly(length)
    const subject = this.#open((message) => {
      const piece = pieceIn(message)
      if (!assembly.add(piece)) return false
      this.#active.grow(subject, piece.length)
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
    }, answer.length)
    request.respond(answer.subarray(0, size), pieceHeaders({ length: answer.length, next: subject }))
  }

  close(): void {
    this.#subscription.unsubscribe()
    this.#active.close()
  }

  #open(next: Next, bytes = 0): string {
    const subject = `${this.#inbox}.${nuid.next()}`
    this.#active.add(subject, next, bytes)
    return subject
  }

  #step(subject: string, message: Msg): void {
    const next = this.#active.use(subject)
    if (next && !(isInInbox(message.reply, this.#subjects) && next(message))) this.#active.delete(subject)
  }
}
