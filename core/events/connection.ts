import { connect, type Socket } from 'node:net'
import { messageOf, SaltError } from '../base/errors.ts'
import { parseLocalAddress } from '../transport/local-address.ts'

/**
 * Connect to a local address.
 * @throws SaltError MASTER_UNREACHABLE if nothing listens there, PERMISSIONS if this user may not connect.
 */
export function connectLocal(address: string): Promise<Socket> {
  const local = parseLocalAddress(address)
  return new Promise((resolve, reject) => {
    const socket = connect(local)
    const fail = (error: NodeJS.ErrnoException) => {
      socket.destroy()
      reject(connectError(error, address))
    }
    socket.once('error', fail)
    socket.once('connect', () => {
      socket.off('error', fail)
      resolve(socket)
    })
  })
}

function connectError(error: NodeJS.ErrnoException, address: string): SaltError {
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    return new SaltError('PERMISSIONS', `Permission denied for the event socket ${address}.`, { address })
  }
  const isAbsent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED'
  const reason = isAbsent ? 'no process listens there' : messageOf(error)
  return new SaltError(
    'MASTER_UNREACHABLE',
    `Cannot reach the event bus at ${address}: ${reason}. Is the daemon running?`,
    {
      address,
    },
  )
}
