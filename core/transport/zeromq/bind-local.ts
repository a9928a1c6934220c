import { chmod } from 'node:fs/promises'
import type { Socket } from 'zeromq'
import { claimSocketPath, parseLocalAddress } from '../local-address.ts'
import { bindTcp } from './bind.ts'

/** Return the ZeroMQ endpoint of an address: `ipc://` for a path, TCP unchanged. */
export function localEndpoint(address: string): string {
  const local = parseLocalAddress(address)
  return 'path' in local ? `ipc://${local.path}` : address
}

/**
 * Bind a socket for other processes of this machine. Closes it after a failure. Only this user may connect to a unix socket,
 * since peers are not authenticated.
 * @throws SaltError ADDRESS_IN_USE, PERMISSIONS or CONFIG_INVALID
 */
export async function bindLocal(socket: Socket, address: string): Promise<void> {
  const local = parseLocalAddress(address)
  if (!('path' in local)) {
    await bindTcp(socket, local)
    return
  }
  try {
    await claimSocketPath(local.path)
    bindForThisUser(socket, localEndpoint(address))
    await chmod(local.path, 0o600)
  } catch (error) {
    socket.close()
    throw error
  }
}

function bindForThisUser(socket: Socket, endpoint: string): void {
  const umask = process.umask(0o077)
  try {
    socket.bindSync(endpoint)
  } finally {
    process.umask(umask)
  }
}
