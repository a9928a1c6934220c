import { chown } from 'node:fs/promises'
import type { Server } from 'node:net'
import { messageOf, SaltError } from '../base/errors.ts'
import { claimSocketPath, parseLocalAddress } from '../transport/local-address.ts'

/**
 * Listen on a local address. `mode` and `group` apply to the file of a Unix socket. Resolves with the address, with the
 * assigned port if it was 0.
 * @throws SaltError ADDRESS_IN_USE, PERMISSIONS or CONFIG_INVALID.
 */
export async function listenLocal(
  server: Server,
  address: string,
  mode: number,
  group?: number,
): Promise<string> {
  const local = parseLocalAddress(address)
  if ('path' in local) await claimSocketPath(local.path)
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve)
    // Once it listens, an error concerns a connection that could not be accepted, and rejects nothing.
    server.on('error', (error) => reject(listenError(error, address)))
    const umask = process.umask(0o777 & ~mode)
    try {
      // The file is created within this call, so the umask applies to it.
      server.listen(local)
    } finally {
      process.umask(umask)
    }
  })
  // Only root and members of the group may do this. If it fails, fewer users can read the socket, never more.
  if (group !== undefined && 'path' in local) await chown(local.path, -1, group).catch(() => {})
  const bound = server.address()
  return typeof bound === 'object' && bound ? `tcp://${bound.address}:${bound.port}` : address
}

function listenError(error: NodeJS.ErrnoException, address: string): SaltError {
  const facts = { address }
  switch (error.code) {
    case 'EADDRINUSE':
      return new SaltError(
        'ADDRESS_IN_USE',
        `Cannot listen on ${address}: another process already does.`,
        facts,
      )
    case 'EACCES':
      return new SaltError(
        'PERMISSIONS',
        `Permission denied to create the event socket ${address}; see 'sock_dir'.`,
        facts,
      )
    default:
      return new SaltError('CONFIG_INVALID', `Cannot listen on ${address}: ${messageOf(error)}.`, facts)
  }
}
