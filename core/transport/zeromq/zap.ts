import type { Router } from 'zeromq'
import { openRouter } from './sockets.ts'

/** Where libzmq asks about each peer that begins to talk (ZAP, ZeroMQ RFC 27); where nobody is bound, all may. */
const ENDPOINT = 'inproc://zeromq.zap.01'
const VERSION = '1.0'
const MAY = '200'
/**
 * An answer in no known version has libzmq hang up at once, and the peer comes again after its reconnection interval. With
 * the answers there are for it, "later" keeps the connection for ten seconds, and "no" has the peer never come again.
 */
const HANG_UP = 'none'

/** Hangs up, while it is shut, on each peer that begins to talk to a socket with a ZAP domain in this process. */
export class Door {
  readonly #porter: Porter
  #isShut = false

  constructor() {
    porter ??= new Porter()
    this.#porter = porter
    porter.doors.add(this)
  }

  get isShut(): boolean {
    return this.#isShut
  }

  shut(): void {
    this.#isShut = true
    this.#porter.listen()
  }

  open(): void {
    this.#isShut = false
  }

  close(): void {
    this.#porter.doors.delete(this)
    if (this.#porter.doors.size > 0) return
    this.#porter.close()
    if (porter === this.#porter) porter = undefined
  }
}

/** Libzmq asks one for all sockets of a process. */
let porter: Porter | undefined

class Porter {
  readonly doors = new Set<Door>()
  /** It is there before it is needed: a socket takes files. */
  readonly #router: Router = openRouter({ linger: 0 })
  #isListening = false

  constructor() {
    void this.#answer()
  }

  /** From then on for ever: who was asked about and got no answer would be kept until its time for a handshake is over. */
  listen(): void {
    if (!this.#isListening) this.#router.bindSync(ENDPOINT)
    this.#isListening = true
  }

  close(): void {
    this.#router.close()
  }

  async #answer(): Promise<void> {
    for await (const [identity, empty, , request] of this.#router) {
      const isShut = [...this.doors].some((door) => door.isShut)
      const answer = isShut ? [HANG_UP, request, '', ''] : [VERSION, request, MAY, 'OK']
      await this.#router.send([identity, empty, ...answer, '', ''] as Buffer[]).catch(() => undefined)
    }
  }
}
