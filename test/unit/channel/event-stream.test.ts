import { connect, Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  deriveDirections,
  FRAME_KINDS,
  FrameCutter,
  newStreamNonce,
  packFrame,
  packProof,
  readGreeting,
} from '../../../core/channel/event-stream.ts'
import { connectStream } from '../../../core/channel/event-stream-client.ts'
import { EventStreamServer } from '../../../core/channel/event-stream-server.ts'
import { encodeNetwork } from '../../../core/codec/index.ts'
import { SymmetricKey } from '../../../core/crypto/index.ts'
import { encodeEvent } from '../../../core/events/event.ts'
import { readEvent } from '../../../core/events/index.ts'
import { keyPair } from '../../harness/key-pairs.ts'
import { quietLog } from '../../harness/log.ts'
import { openProxy, type TcpProxy } from '../../harness/proxy.ts'
import { SLOW } from '../../harness/slow.ts'
import { until } from '../../harness/until.ts'

const ID = 'api-one'
const session = SymmetricKey.generate()
const { publicKey: owner } = await keyPair('wire1')
let server: EventStreamServer
let mayStay = true
const open: { close(): unknown }[] = []

beforeEach(async () => {
  mayStay = true
  server = await EventStreamServer.open({
    host: '127.0.0.1',
    port: 0,
    session: async (id) => (id === ID ? { key: session, owner, used: true } : undefined),
    mayStay: () => mayStay,
    log: quietLog,
    maxBacklog: 200_000,
  })
})
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
  await server.close()
})

const publish = (tag: string, data: object = {}) => server.publish(tag, encodeEvent(tag, data))

async function reader(settings: { id?: string; key?: SymmetricKey; port?: number } = {}) {
  const { id = ID, key = session, port = server.port } = settings
  const heard: string[] = []
  const ended = vi.fn()
  const connection = await connectStream({
    host: '127.0.0.1',
    port,
    id,
    session: key,
    onEvent: (body) => void heard.push(readEvent(body).tag),
    onEnd: ended,
  })
  open.push(connection)
  return { ...connection, heard, ended }
}

/** Connect without a proof, to send single frames. */
async function connectUnproved(): Promise<{ socket: Socket; frames: Buffer[]; closed: Promise<unknown> }> {
  const socket = connect({ host: '127.0.0.1', port: server.port })
  open.push({ close: () => socket.destroy() })
  const closed = new Promise((gone) => socket.once('close', gone))
  socket.on('error', () => {})
  const frames: Buffer[] = []
  const cutter = new FrameCutter()
  socket.on('data', (chunk) =>
    frames.push(...[...cutter.push(chunk, () => 1e6)].map((one) => Buffer.from(one))),
  )
  await Promise.race([until('the greeting', () => frames.length > 0), closed])
  return { socket, frames, closed }
}

/** Connect and prove the identity. Returns the connection and the function that seals its frames. */
async function connectProved() {
  const one = await connectUnproved()
  const nonce = readGreeting(one.frames[0] as Buffer)
  const own = newStreamNonce()
  one.socket.write(packProof(ID, session, nonce, own))
  await until('the answer', () => one.frames.length > 1)
  return { ...one, directions: deriveDirections(session, nonce, own) }
}

test('events of the subscribed tags arrive in order; others do not', async () => {
  const { want, heard } = await reader()
  publish('salt/job/0/new')
  await want(['salt/job/', 'salt/run/'])
  for (const tag of ['salt/job/1/new', 'salt/auth', 'salt/run/2/ret', 'salt/job/1/ret/a']) publish(tag)
  await until('three events', () => heard.length === 3)
  expect(heard).toEqual(['salt/job/1/new', 'salt/run/2/ret', 'salt/job/1/ret/a'])
})

test.each([
  ['another session key', { key: SymmetricKey.generate() }],
  ['another id', { id: 'web' }],
  ['an invalid id', { id: '../x' }],
])('no reader is accepted with %s', async (_, settings) => {
  await expect(reader(settings)).rejects.toThrow('refused this host')
  expect(server.readers).toBe(0)
})

test('a proof is not accepted on another connection', async () => {
  const first = await connectUnproved()
  const proof = packProof(ID, session, readGreeting(first.frames[0] as Buffer), newStreamNonce())
  const second = await connectUnproved()
  second.socket.write(proof)
  await second.closed
  expect(server.readers).toBe(0)
})

describe('a man in the middle cannot', () => {
  test.each([
    ['repeat a frame', (frames: Buffer[]) => [frames[0], frames[0]]],
    ['leave a frame out', (frames: Buffer[]) => [frames[1]]],
    ['reorder frames', (frames: Buffer[]) => [frames[1], frames[0]]],
    ['send back a frame of the master', (_: Buffer[], said: Buffer) => [packFrame(said)]],
    ['change a frame', ([frame]: Buffer[]) => [Buffer.from(frame as Buffer).fill(1, 60, 61)]],
    ['forge a frame', () => [packFrame(SymmetricKey.generate().encrypt(Buffer.alloc(20)))]],
    [
      'send a frame that is sealed with the session key only',
      () => [packFrame(session.encrypt(Buffer.alloc(9)))],
    ],
  ] as const)('%s: the connection ends', async (_, tamper) => {
    const { socket, frames, closed, directions } = await connectProved()
    const sealed = [['a/'], ['b/']].map((texts) =>
      directions.toServer.seal(FRAME_KINDS.want, encodeNetwork(texts)),
    )
    for (const frame of tamper(sealed, frames[1] as Buffer)) socket.write(frame as Buffer)
    await closed
    expect(server.readers).toBe(0)
  })

  test('send forged frames to the client: it ends the connection, and ignores them', async () => {
    const proxy: TcpProxy = await openProxy({ host: '127.0.0.1', port: server.port })
    open.push(proxy)
    const { toClient } = deriveDirections(session, newStreamNonce(), newStreamNonce())
    const { want, heard, ended } = await reader({ port: proxy.port })
    await want([''])
    const forged = toClient.seal(FRAME_KINDS.event, encodeEvent('salt/forged', {}))
    proxy.inject(forged)
    await until('the end', () => ended.mock.calls.length > 0)
    expect(heard).toEqual([])
    expect(ended.mock.calls[0]?.[0]).toContain('out of sequence')
  })
})

describe('an unauthenticated peer', () => {
  test('that sends too much, or an invalid claim, is disconnected', async () => {
    const loud = await connectUnproved()
    loud.socket.write(packFrame(Buffer.alloc(2_000)))
    const odd = await connectUnproved()
    odd.socket.write(packFrame(encodeNetwork(['no', 'claim'])))
    await Promise.all([loud.closed, odd.closed])
  })

  test('that sends nothing is disconnected', SLOW, async () => {
    const { closed } = await connectUnproved()
    await closed
  })

  test('cannot use up all connections: only a few of one address are accepted at once', async () => {
    const unproved = await Promise.all(Array.from({ length: 20 }, connectUnproved))
    expect(unproved.filter(({ frames }) => frames.length > 0)).toHaveLength(8)
  })
})

test('a reader whose key is no longer accepted is disconnected', SLOW, async () => {
  const { want, ended } = await reader()
  await want([''])
  mayStay = false
  await until('the end', () => ended.mock.calls.length > 0)
  expect(server.readers).toBe(0)
})

test('a reader that does not read is disconnected, and the others get all events', SLOW, async () => {
  const slow = await connectProved()
  slow.socket.write(slow.directions.toServer.seal(FRAME_KINDS.want, encodeNetwork([''])))
  const { want, heard } = await reader()
  await want([''])
  await until('both to listen', () => slow.frames.length > 2)
  slow.socket.pause()
  const large = { text: 'x'.repeat(100_000) }
  let sent = 0
  await until('the slow one to be cut off', async () => {
    publish('salt/large', large)
    sent++
    await until('it to arrive', () => heard.length === sent)
    return server.readers === 1
  })
  expect(heard).toHaveLength(sent)
})

test('errors of the listening socket, such as too many open files, do not end the process', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen')
  const other = await EventStreamServer.open({
    host: '127.0.0.1',
    port: 0,
    session: async () => undefined,
    mayStay: () => true,
    log: quietLog,
  })
  open.push(other)
  const socket = listen.mock.contexts[0] as Server
  listen.mockRestore()
  expect(() => {
    for (const _ of [1, 2])
      socket.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  }).not.toThrow()
})
