import { isMainThread } from 'node:worker_threads'
import { context, Dealer, Pull, Push, Request, Router, type Socket, Subscriber, XPublisher } from 'zeromq'
import { type BufferSizes, copyMessages, keepBuffersSmall } from './buffers.ts'

// The default, 1023, is too few where one process plays many minions; each place takes 12 bytes, used or not.
context.maxSockets = Math.min(16_384, context.maxSocketsLimit)
// Sockets that are closed never hold up the end of the process longer than their own linger.
context.blocky = false
copyMessages(context)

/** Ends a peer that stopped talking ZMTP within this time, for example one that speaks HTTP. Milliseconds. */
const HANDSHAKE_MS = 10_000

/**
 * A half-open connection is noticed after at most interval + timeout; with the longest wait before a minion's
 * reconnection that stays below 35 seconds. libzmq answers these pings by itself, in
 * Python Salt as well. Milliseconds.
 */
const heartbeat = { heartbeatInterval: 8_000, heartbeatTimeout: 15_000 } as const

const common = { handshakeInterval: HANDSHAKE_MS, ...heartbeat } as const

/** The options of a socket type, by zeromq.js's names. */
type Options<S extends Socket> = Partial<Omit<S, 'events' | 'context'>>

const fewConnections: BufferSizes = { read: 2048, write: 2048 }
/** A master has a connection of each minion to its ROUTER and its XPUB: for a large message two system calls more. */
const manyConnections: BufferSizes = { read: 256, write: 256 }

/** zeromq.js aborts the process when a worker thread that has an open socket ends, so there are none in threads. */
function open<S extends Socket>(
  make: new (options: object) => S,
  options: Options<S>,
  sizes = fewConnections,
): S {
  if (!isMainThread) throw new Error('ZeroMQ sockets can only be opened in the main thread of a process.')
  const socket = new make({ ...common, ...options })
  keepBuffersSmall(socket, sizes)
  return socket
}

export const openRouter = (options: Options<Router>): Router => open(Router, options, manyConnections)
export const openDealer = (options: Options<Dealer>): Dealer => open(Dealer, options)
export const openRequest = (options: Options<Request>): Request => open(Request, options)
export const openPull = (options: Options<Pull>): Pull => open(Pull, options)
export const openPush = (options: Options<Push>): Push => open(Push, options)
export const openXPublisher = (options: Options<XPublisher>): XPublisher =>
  open(XPublisher, options, manyConnections)

const ZMQ_ROUTING_ID = 5

/** SUB with an identity, as Salt's minions set it; zeromq.js has no property for it on this socket type. */
class IdentifiedSubscriber extends Subscriber {
  identify(identity: string): void {
    this.setStringOption(ZMQ_ROUTING_ID, identity)
  }
}

export function openSubscriber(identity: string, options: Options<Subscriber>): Subscriber {
  const socket = open<IdentifiedSubscriber>(IdentifiedSubscriber, options)
  if (identity) socket.identify(identity)
  return socket
}
