import { connect, createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { EventStreamServer } from '../../../core/channel/event-stream-server.ts'
import { RemoteEvents } from '../../../core/client/remote-events.ts'
import type { RemoteMaster } from '../../../core/client/remote-master.ts'
import type { RemoteSignIn } from '../../../core/client/remote-sign-in.ts'
import { SymmetricKey } from '../../../core/crypto/index.ts'
import { keyPair } from '../../harness/key-pairs.ts'
import { quietLog } from '../../harness/quiet-log.ts'

const session = SymmetricKey.generate()
const { publicKey: owner } = await keyPair('wire1')
const open: { close(): unknown }[] = []

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

/** A way to a port on which the first client is cut off as soon as it says something after its proof. */
async function cuttingProxy(port: number): Promise<number> {
  let isFirst = true
  const proxy = createServer((near) => {
    const cut = isFirst
    isFirst = false
    let messages = 0
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => {}).setNoDelay(true)
    near.on('data', (chunk) => (cut && ++messages > 1 ? near.destroy() : far.write(chunk)))
    near.on('close', () => far.destroy())
    far.on('data', (chunk) => near.write(chunk)).on('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  open.push(proxy)
  return (proxy.address() as { port: number }).port
}

test('a connection that is lost before events come is made again once, not twice', async () => {
  const server = await EventStreamServer.open({
    ...{ host: '127.0.0.1', port: 0, log: quietLog, mayStay: () => true },
    session: async () => ({ key: session, owner, used: true }),
  })
  open.push(server)
  const signIn = { untilAccepted: async () => ({ request: session }) } as unknown as RemoteSignIn
  const eventPort = await cuttingProxy(server.port)
  const master = { host: '127.0.0.1', eventPort, id: 'api-one' } as RemoteMaster
  const events = new RemoteEvents(master, signIn, quietLog, async () => {})
  open.push(events)
  events.subscribe('salt/job/')
  await events.open()
  expect(server.readers).toBe(1)
})
