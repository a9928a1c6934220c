import type { Router } from 'zeromq'
import { openRouter } from './sockets.ts'

/** Where libzmq asks about each peer that begins to talk (ZAP, ZeroMQ RFC 27); where nobody is bound, all may. */
const ENDPOINT = 'inproc://zeromq.zap.01'
/**
 * An answer in no known version has libzmq hang up at once, and the peer comes again after its reconnection interval. With
 * the answers there are for it, "later" keeps the connection for ten seconds, and "no" has the peer never come again.
 */
const HANG_UP = 'none'

/** Hangs up, while it is shut, on each peer that begins to talk to a socket with a ZAP domain in this process. */
export class Door {
  /** It is there before it is needed: a socket takes files. */
  readonly #router: Router = openRouter({ linger: 0 })
  #shut = false

  constructor() {
    void answer(this.#router)
  }

  get isShut(): boolean {
    return this.#shut
  }

  shut(): void {
    this.#router.bindSync(ENDPOINT)
    this.#shut = true
  }

  /** What libzmq has bound it unbinds by `disconnect` too, which zeromq.js does at once. */
  open(): void {
    this.#router.disconnect(ENDPOINT)
    this.#shut = false
  }

  close(): void {
    this.#router.close()
  }
}

async function answer(door: Router): Promise<void> {
  for await (const [identity, empty, , request] of door)
    await door.send([identity, empty, HANG_UP, request, '', '', '', ''] as Buffer[]).catch(() => undefined)
}
