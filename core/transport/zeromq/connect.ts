import type { Socket } from 'zeromq'
import { messageOf, SaltError } from '../../base/errors.ts'

/** After a lost connection libzmq announces the next attempt at once, or makes none. Milliseconds to wait for that. */
const ANNOUNCEMENT_MS = 200

interface Listener {
  /** Something listens at the address. Whether it is a server, and one that takes connections, is yet to be seen. */
  reached?(): void
  up?(): void
  /** Lost, or failed before it was up. */
  down?(): void
  /** An attempt found nothing that listens; another one follows. */
  refused?(): void
  /**
   * libzmq makes no further attempt. It does that when the peer is no ZeroMQ socket, the wrong one, or went away during
   * the handshake; that may be over in a moment, so it is for the caller to start anew.
   */
  abandoned(): void
}

/** Follows the one connection of a client's socket until the socket is closed. */
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

/** @throws SaltError MASTER_UNREACHABLE if the address cannot be one. */
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

/** Start anew after libzmq gave up. */
export function reconnect(socket: Socket, endpoint: string): void {
  if (socket.closed) return
  try {
    socket.disconnect(endpoint)
  } catch {
    // It has been forgotten already.
  }
  socket.connect(endpoint)
}
