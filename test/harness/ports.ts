import { createServer } from 'node:net'

/** Below the ports that the system gives to outgoing connections, so that none of them takes a port between its choice and its use. */
const [FIRST, COUNT] = [10_000, 20_000]
/** Test processes run beside each other: each has ports of its own, as one could take a port between its choice and its use by another. */
const SHARES = 8
const SHARE = COUNT / SHARES
const first = FIRST + (Number(process.env.VITEST_POOL_ID ?? 0) % SHARES) * SHARE
/** A process that follows another begins at another place than it. */
let next = (process.pid * 97) % SHARE

/** Return a loopback port that nobody listens on now, and that this process has not chosen before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (next++ % SHARE)
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
