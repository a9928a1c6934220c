import { createRequire } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import type { Dealer, Pull, Push, Request, Router, Socket, Subscriber, XPublisher } from 'zeromq'
import { type BufferSizes, disableZeroCopyReceive, setBufferSizes } from './buffers.ts'

type ZeroMQ = typeof import('zeromq')

let library: ZeroMQ | undefined

/** zeromq.js is loaded with the first socket: that takes 10 ms. */
function zeromq(): ZeroMQ {
  library ??= prepared(createRequire(import.meta.url)('zeromq') as ZeroMQ)
  return library
}

function prepared(library: ZeroMQ): ZeroMQ {
  const { context, capability } = library
  // The default, 1023, is too low for a process that simulates many minions. Each possible socket takes 12 bytes.
  context.maxSockets = Math.min(16_384, context.maxSocketsLimit)
  // Closed sockets never delay the end of the process longer than their linger.
  context.blocky = false
  if (capability.draft) disableZeroCopyReceive(context)
  return library
}

/** How long a peer may take for the handshake, for example an HTTP client, which never completes it. */
const HANDSHAKE_MS = 10_000

/**
 * ZMTP heartbeats, in milliseconds: a half-open connection is detected after at most interval + timeout. libzmq answers these
 * pings itself, also in Python Salt.
 */
const heartbeat = { heartbeatInterval: 8_000, heartbeatTimeout: 15_000 } as const
/**
 * Those of a subscriber that gets what it misses otherwise. libzmq counts whole messages only, so a large one on a slow line ends
 * the connection, too.
 */
export const QUICK_HEARTBEAT = { heartbeatInterval: 2_000, heartbeatTimeout: 3_000 } as const

const common = { handshakeInterval: HANDSHAKE_MS, ...heartbeat } as const

/** The options of a socket type, by zeromq.js's names. */
type Options<S extends Socket> = Partial<Omit<S, 'events' | 'context'>>

const fewConnections: BufferSizes = { read: 2048, write: 2048 }
/**
 * Small buffers, since each minion has connections to the ROUTER and the XPUB of a master. A large message takes two
 * more system calls.
 */
const manyConnections: BufferSizes = { read: 256, write: 256 }

/** Open a socket. Throws in worker threads: zeromq.js aborts the process when a thread with an open socket ends. */
function open<S extends Socket>(
  typeIn: (library: ZeroMQ) => new (options: object) => S,
  options: Options<S>,
  sizes = fewConnections,
): S {
  if (!isMainThread) throw new Error('ZeroMQ sockets can only be opened in the main thread of a process.')
  const library = zeromq()
  const type = typeIn(library)
  const socket = new type({ ...common, ...options })
  if (library.capability.draft) setBufferSizes(socket, sizes)
  return socket
}

export const openRouter = (options: Options<Router>): Router =>
  open(({ Router }) => Router, options, manyConnections)
export const openDealer = (options: Options<Dealer>): Dealer => open(({ Dealer }) => Dealer, options)
export const openRequest = (options: Options<Request>): Request => open(({ Request }) => Request, options)
export const openPull = (options: Options<Pull>): Pull => open(({ Pull }) => Pull, options)
export const openPush = (options: Options<Push>): Push => open(({ Push }) => Push, options)
export const openXPublisher = (options: Options<XPublisher>): XPublisher =>
  open(({ XPublisher }) => XPublisher, options, manyConnections)

const ZMQ_ROUTING_ID = 5

/** A method that zeromq.js keeps to subclasses. */
interface Identifiable {
  setStringOption(option: number, value: string): void
}

/** Open a SUB socket with an identity, as Salt's minions have it; zeromq.js has no property for it on this socket type. */
export function openSubscriber(identity: string, options: Options<Subscriber>): Subscriber {
  const socket = open(({ Subscriber }) => Subscriber, options)
  if (identity) (socket as unknown as Identifiable).setStringOption(ZMQ_ROUTING_ID, identity)
  return socket
}
