/** A TCP proxy that can fail in the ways networks do. */
import { connect, createServer, type Socket } from 'node:net'

export interface TcpProxy {
  readonly port: number
  /**
   * From now on the present connections are half-open: they stay up, and nothing gets through in either direction.
   * New connections work.
   */
  freeze(): void
  /** Connections the proxy holds, frozen ones among them. */
  readonly connections: number
  close(): Promise<void>
}

export async function openProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  const server = createServer((client) => {
    const upstream = connect(target)
    const pair = [client, upstream] as const
    pairs.add(pair)
    client.pipe(upstream)
    upstream.pipe(client)
    for (const socket of pair) {
      socket.setNoDelay(true)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        for (const end of pair) end.destroy()
        pairs.delete(pair)
      })
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    port: (server.address() as { port: number }).port,
    get connections() {
      return pairs.size
    },
    freeze() {
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream).pause()
        upstream.unpipe(client).pause()
      }
    },
    async close() {
      const closed = new Promise((done) => server.close(done))
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      await closed
    },
  }
}
