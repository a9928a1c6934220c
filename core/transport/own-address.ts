import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'

/** Return the address of this host that a route to `host` starts from; undefined without a route. Nothing is sent. */
export async function ownAddressTowards(host: string, port: number): Promise<string | undefined> {
  try {
    const { address, family } = await lookup(host)
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject)
        socket.connect(port, address, resolve)
      })
      return socket.address().address
    } finally {
      socket.close()
    }
  } catch {
    return undefined
  }
}
