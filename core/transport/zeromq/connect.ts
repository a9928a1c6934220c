import { setTimeout as delay } from 'node:timers/promises'
import type { Socket } from 'zeromq'
import { messageOf, SaltError } from '../../base/errors.ts'

/** How long to wait after a lost connection for libzmq to announce the next attempt; otherwise it makes none. */
const ANNOUNCEMENT_MS = 200
/** How long to wait for a file descriptor. */
const RETRY_MS = 1_000

type Watched = Pick<Socket, 'closed' | 'events'>

interface Listener {
  /** Something listens at the address; the handshake has not been completed. */
  reached?(): void
  up?(): void
  /** The connection was lost, or failed before it was up. */
  down?(): void
  /** Nothing listened at the address; another attempt follows. */
  refused?(): void
  /**
   * libzmq makes no further attempt, because the peer is not a ZeroMQ socket, has the wrong type, or disconnected during the
   * handshake. That may be temporary, so the caller should connect again. If this throws, it is called again later.
   */
  abandoned(): void
}

/**
 * Watch the connection of a client's socket until the socket is closed. Without a free file descriptor it cannot be watched; it is
 * abandoned once it can. Never rejects.
 */
export async function watchConnection(socket: Watched, listener: Listener): Promise<void> {
  for (let isFirst = true; !socket.closed; isFirst = false) {
    try {
      const { events } = socket // throws without a free file descriptor
      if (!isFirst) listener.abandoned()
      return await watch(events, listener)
    } catch {
      await delay(RETRY_MS, undefined, { ref: false })
    }
  }
}

async function watch(events: Watched['events'], listener: Listener): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let reached = false
  const abandon = () => {
    try {
      listener.abandoned()
    } catch {
      timer = setTimeout(abandon, RETRY_MS)
    }
  }
  for await (const event of events) {
    if (event.type === 'connect') {
      reached = true
      listener.reached?.()
    }
    if (event.type === 'handshake') listener.up?.()
    if (event.type === 'connect:retry') {
      clearTimeout(timer)
      if (!reached) listener.refused?.()
      reached = false
    }
    if (event.type !== 'disconnect') continue
    listener.down?.()
    clearTimeout(timer)
    timer = setTimeout(abandon, ANNOUNCEMENT_MS)
  }
  clearTimeout(timer)
}

/** Connect a socket. @throws SaltError MASTER_UNREACHABLE if the address is invalid */
export function connect(socket: Socket, endpoint: string): void {
  try {
    socket.connect(endpoint)
  } catch (error) {
    socket.close()
    const reason = messageOf(error)
    throw new SaltError(
      'MASTER_UNREACHABLE',
      `Cannot connect to ${endpoint}: ${reason}. Check the address.`,
      {
        endpoint,
      },
    )
  }
}

/** Connect again after libzmq has abandoned the connection. */
export function reconnect(socket: Socket, endpoint: string): void {
  if (socket.closed) return
  try {
    socket.disconnect(endpoint)
  } catch {
    // libzmq has removed the connection already.
  }
  socket.connect(endpoint)
}
