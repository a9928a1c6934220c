import { createServer } from 'node:net'

/** Below the ports that the system gives to outgoing connections, so that none of them takes a port between its choice and its use. */
const [FIRST, COUNT] = [10_000, 20_000]
/** Test processes run beside each other: each begins at another place. */
let next = (process.pid * 97) % COUNT

/** Return a loopback port that nobody listens on now, and that this process has not chosen before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + (next++ % COUNT)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((done) => {
    server.once('error', () => done(false))
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)))
  })
}
