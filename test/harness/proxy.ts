/** A TCP proxy that can fail in the ways networks do, or gives TLS to a server that has none. */
import { connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'

export interface TcpProxy {
  readonly port: number
  /**
   * From now on the present connections are half-open: they stay up, and nothing gets through in either direction.
   * New connections work.
   */
  freeze(): void
  /** From now on everything is so many milliseconds under way, in each direction; 0: no longer. */
  slow(ms: number): void
  /** Say this to the clients, as if it came from the server. */
  inject(bytes: Uint8Array): void
  /** Connections the proxy holds, frozen ones among them. */
  readonly connections: number
  close(): Promise<void>
}

/** On a port of its own, or on this one. `onBytes` is shown what goes through, in both directions. */
export async function openProxy(
  target: { host: string; port: number },
  port = 0,
  tls?: TlsOptions,
  onBytes?: (bytes: Buffer) => void,
): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let lag = 0
  const late = () =>
    new Transform({
      transform: (chunk, _, done) => void (lag > 0 ? setTimeout(done, lag, null, chunk) : done(null, chunk)),
    })
  const connected = (client: Socket) => {
    const upstream = connect(target)
    const pair = [client, upstream] as const
    pairs.add(pair)
    client.pipe(late()).pipe(upstream)
    upstream.pipe(late()).pipe(client)
    for (const socket of pair) {
      if (onBytes) socket.on('data', onBytes)
      socket.setNoDelay(true)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        for (const end of pair) end.destroy()
        pairs.delete(pair)
      })
    }
  }
  const server = tls ? createTlsServer(tls, connected) : createServer(connected)
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  return {
    port: (server.address() as { port: number }).port,
    get connections() {
      return pairs.size
    },
    freeze() {
      for (const pair of pairs) for (const socket of pair) socket.unpipe().pause()
    },
    inject(bytes) {
      for (const [client] of pairs) client.write(bytes)
    },
    slow(ms) {
      lag = ms
    },
    async close() {
      const closed = new Promise((done) => server.close(done))
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      await closed
    },
  }
}
