import type { Socket } from 'zeromq'
import { bindPort } from '../bind.ts'
import type { ServerSettings } from '../contract.ts'
import { endpointOf } from './settings.ts'

/**
 * Bind a socket, and return its port. Closes it after a failure.
 * @throws SaltError ADDRESS_IN_USE, PERMISSIONS or CONFIG_INVALID, see {@link bindPort}
 */
export async function bindTcp(socket: Socket, settings: ServerSettings): Promise<number> {
  try {
    await bindPort(settings, (address) => socket.bind(endpointOf(address)))
    return Number(socket.lastEndpoint?.split(':').pop())
  } catch (error) {
    socket.close()
    throw error
  }
}
