import { connect, createServer } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { deferred } from '../../../../core/base/deferred.ts'
import { SaltError } from '../../../../core/base/errors.ts'
import { EventStreamServer } from '../../../../core/channel/event-stream-server.ts'
import type { SignInKeys } from '../../../../core/channel/sign-in-client.ts'
import { RemoteEvents } from '../../../../core/client/remote/remote-events.ts'
import type { RemoteMaster } from '../../../../core/client/remote/remote-master.ts'
import type { RemoteSignIn } from '../../../../core/client/remote/remote-sign-in.ts'
import { SymmetricKey } from '../../../../core/crypto/index.ts'
import { encodeEvent } from '../../../../core/events/event.ts'
import { keyPair } from '../../../harness/key-pairs.ts'
import { quietLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'
import { eventually } from '../../../harness/until.ts'

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

async function serve(port = 0): Promise<EventStreamServer> {
  const server = await EventStreamServer.open({
    host: '127.0.0.1',
    port,
    log: quietLog,
    mayStay: () => true,
    session: async () => ({ key: session, owner, used: true }),
  })
  open.push(server)
  return server
}

function eventsAt(eventPort: number, signIn: Partial<Pick<RemoteSignIn, 'untilAccepted' | 'renew'>>) {
  const master = { host: '127.0.0.1', eventPort, id: 'api-one' } as RemoteMaster
  const events = new RemoteEvents(master, signIn as RemoteSignIn, quietLog, async () => {})
  open.push(events)
  return events
}

const credentialsOf = (request: SymmetricKey) => ({ request }) as SignInKeys
const untilAccepted = async () => credentialsOf(session)
const anotherMaster = new SaltError('MASTER_KEY_CHANGED', 'This is another master.')

test(
  'a connection that is lost before any event is renewed once, not twice, with the same session',
  SLOW,
  async () => {
    const server = await serve()
    const renew = vi.fn(untilAccepted)
    const events = eventsAt(await cuttingProxy(server.port), { untilAccepted, renew })
    events.subscribe('salt/job/')
    await events.open()
    expect(server.readers).toBe(1)
    expect(renew).not.toHaveBeenCalled()
  },
)

test('a session that the master refuses is renewed', async () => {
  const server = await serve()
  const old = credentialsOf(SymmetricKey.generate())
  const renew = vi.fn(untilAccepted)
  const signIn = vi.fn(untilAccepted).mockResolvedValueOnce(old).mockResolvedValueOnce(credentialsOf(session))
  await eventsAt(server.port, { untilAccepted: signIn, renew }).open()
  expect(renew.mock.calls).toEqual([[old]])
})

test('a master with an unknown key is not tried again', async () => {
  const server = await serve()
  const signIn = vi.fn(untilAccepted).mockRejectedValueOnce(anotherMaster)
  await expect(eventsAt(server.port, { untilAccepted: signIn }).open()).rejects.toBe(anotherMaster)
  expect(server.readers).toBe(0)
})

test('a connection that is closed while it is made stays closed', async () => {
  const server = await serve()
  const events = eventsAt(server.port, {
    untilAccepted: async () => {
      events.close()
      return untilAccepted()
    },
  })
  await events.open()
  await eventually(() => expect(server.readers).toBe(0))
})

test('a subscription gets a gap reported when a lost connection is back', async () => {
  const server = await serve()
  const events = eventsAt(server.port, { untilAccepted })
  const gap = deferred()
  events.subscribe('salt/job/', undefined, { onGap: () => gap.resolve() })
  await events.open()
  const { port } = server
  await server.close()
  await serve(port)
  await gap.promise
})

test('an invalid event is left out, and later ones come over the same connection', async () => {
  const server = await serve()
  const events = eventsAt(server.port, { untilAccepted })
  const onGap = vi.fn()
  const subscription = events.subscribe('salt/job/', undefined, { onGap })
  await events.open()
  server.publish('salt/job/1/new', Buffer.from('no event'))
  server.publish('salt/job/2/new', encodeEvent('salt/job/2/new', { a: 1 }))
  for await (const { tag } of subscription) {
    expect(tag).toBe('salt/job/2/new')
    break
  }
  expect(onGap).not.toHaveBeenCalled()
})
