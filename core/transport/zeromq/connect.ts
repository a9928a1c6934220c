import type { Socket } from 'zeromq'
import { messageOf, SaltError } from '../../base/errors.ts'

/** How long to wait after a lost connection for libzmq to announce the next attempt; otherwise it makes none. */
const ANNOUNCEMENT_MS = 200

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
   * handshake. That may be temporary, so the caller should connect again.
   */
  abandoned(): void
}

/** Watch the connection of a client's socket until the socket is closed. */
export async function watchConnection(socket: Socket, listener: Listener): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let reached = false
  for await (const event of socket.events) {
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
    timer = setTimeout(() => listener.abandoned(), ANNOUNCEMENT_MS)
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
