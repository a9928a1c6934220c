import { once } from 'node:events'
import { type AddressInfo, isIPv6, type Server } from 'node:net'
import { bindPort } from '../bind.ts'
import type { ServerSettings } from '../contract.ts'
import type { Listening } from './contract.ts'

const BACKLOG = 1_000

/** Let a server of Node listen. @throws SaltError ADDRESS_IN_USE, PERMISSIONS or CONFIG_INVALID */
export async function listen(server: Server, settings: ServerSettings): Promise<Listening> {
  const { backlog = BACKLOG, ipv6 } = settings
  await bindPort(settings, ({ host, port }) => {
    const address = host === '*' ? (ipv6 ? '::' : '0.0.0.0') : host
    const listening = once(server, 'listening')
    server.listen({ host: address, port, backlog, ipv6Only: isIPv6(host) && host !== '::' })
    return listening
  })
  server.on('error', () => {}) // of one connection that could not be accepted
  const listening = {
    port: (server.address() as AddressInfo).port,
    isRefusing: false,
    close: () => void server.close(),
  }
  server.prependListener('connection', (socket) => {
    if (listening.isRefusing) socket.destroy()
  })
  return listening
}
