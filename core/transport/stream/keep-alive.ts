import type { Socket } from 'node:net'
import type { KeepAlive } from '../contract.ts'

const DEFAULT_IDLE_S = 300

/** Node sets the time after which a silent connection is probed; the system decides how often, and how many times. */
export function setKeepAlive(socket: Socket, keepAlive: KeepAlive | false | undefined): void {
  if (keepAlive === false) return
  const idle = keepAlive && keepAlive.idle > 0 ? keepAlive.idle : DEFAULT_IDLE_S
  socket.setKeepAlive(true, 1000 * idle)
}
