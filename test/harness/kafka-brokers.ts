import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { Reader, sized } from './kafka-wire.ts'

/** Undefined for what is never answered. Throws to close the connection. */
export type Answer = (request: Reader) => Buffer | undefined

/** So many listeners on loopback that speak in Kafka's frames; `open` is asked at each connection. */
export async function brokers(count: number, open: (node: number) => Answer, tls: TlsOptions | undefined) {
  const sockets = new Set<Socket>()
  let isPaused = false
  let isKilled = false

  function serve(socket: Socket, answer: Answer): void {
    // One that was accepted just before its server was closed would keep it from closing.
    if (isKilled) return void socket.destroy()
    sockets.add(socket)
    let rest = Buffer.alloc(0)
    const work = () => {
      while (!isPaused && rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
        const end = 4 + rest.readInt32BE(0)
        try {
          const told = answer(new Reader(rest.subarray(4, end)))
          if (told) socket.write(sized(told))
        } catch {
          socket.destroy()
        }
        rest = rest.subarray(end)
      }
    }
    socket.on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes])
      work()
    })
    socket.on('resumed', work)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  }

  const servers = Array.from({ length: count }, (_, node) => {
    const connected = (socket: Socket) => serve(socket, open(node))
    return tls ? createTlsServer(tls, connected) : createServer(connected)
  })
  let ports: readonly number[] = servers.map(() => 0)
  const start = async () => {
    isKilled = false
    ports = await Promise.all(servers.map((server, node) => listening(server, ports[node] ?? 0)))
  }
  await start()
  return {
    ports: () => ports,
    /** Again, at the same ports. */
    start,
    kill: async () => {
      isKilled = true
      const closed = servers.map((server) => new Promise((done) => server.close(done)))
      for (const socket of sockets) socket.destroy()
      await Promise.all(closed)
    },
    pause: async () => {
      isPaused = true
    },
    resume: () => {
      isPaused = false
      for (const socket of sockets) socket.emit('resumed')
    },
  }
}

const listening = (server: Server, port: number) =>
  new Promise<number>((done) =>
    server.listen(port, '127.0.0.1', () => done((server.address() as AddressInfo).port)),
  )
