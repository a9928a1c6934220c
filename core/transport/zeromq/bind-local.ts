import { chmod } from 'node:fs/promises'
import type { Socket } from 'zeromq'
import { claimSocketPath, parseLocalAddress } from '../local-address.ts'
import { bindTcp } from './bind.ts'

/** `ipc://` for a path, TCP as it is. */
export function localEndpoint(address: string): string {
  const local = parseLocalAddress(address)
  return 'path' in local ? `ipc://${local.path}` : address
}

/**
 * Bind a socket for other processes of this machine, or close it. A unix socket is for this user only: whoever can
 * connect is believed.
 * @throws SaltError ADDRESS_IN_USE, PERMISSIONS or CONFIG_INVALID.
 */
export async function bindLocal(socket: Socket, address: string): Promise<void> {
  const local = parseLocalAddress(address)
  if (!('path' in local)) {
    await bindTcp(socket, local)
    return
  }
  try {
    await claimSocketPath(local.path)
    bindWithoutOthers(socket, localEndpoint(address))
    await chmod(local.path, 0o600)
  } catch (error) {
    socket.close()
    throw error
  }
}

function bindWithoutOthers(socket: Socket, endpoint: string): void {
  const umask = process.umask(0o077)
  try {
    socket.bindSync(endpoint)
  } finally {
    process.umask(umask)
  }
}
