import type { Router } from 'zeromq'
import { openRouter } from './sockets.ts'

/** Where libzmq asks about each peer that begins to talk (ZAP, ZeroMQ RFC 27); where nobody is bound, all may. */
const ENDPOINT = 'inproc://zeromq.zap.01'
/**
 * An answer in no known version has libzmq hang up at once, and the peer comes again after its reconnection interval. With
 * the answers there are for it, "later" keeps the connection for ten seconds, and "no" has the peer never come again.
 */
const HANG_UP = 'none'

/** Hang up on each peer that begins to talk to a socket with a ZAP domain in this process, until the socket it gives is closed. */
export function refuseAll(): Router {
  const door = openRouter({ linger: 0 })
  door.bindSync(ENDPOINT)
  void answer(door)
  return door
}

async function answer(door: Router): Promise<void> {
  for await (const [identity, empty, , request] of door)
    await door.send([identity, empty, HANG_UP, request, '', '', '', ''] as Buffer[]).catch(() => undefined)
}
