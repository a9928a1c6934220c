import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { decode, decodeRaw, encodeNetwork, StreamDecoder } from '../../../core/codec/index.ts'
import { makeSelfSignedCertificate } from '../../../core/crypto/self-signed.ts'
import type { Tls } from '../../../core/transport/contract.ts'
import { getTransport } from '../../../core/transport/index.ts'
import { serveRequests } from '../../../core/transport/serve-requests.ts'
import { packFrame, readFrame } from '../../../core/transport/tcp/framing.ts'
import { closed } from '../../harness/raw-connection.ts'
import { SLOW } from '../../harness/slow.ts'
import { eventually, until } from '../../harness/until.ts'

const loopback = { host: '127.0.0.1', port: 0 }
const tcp = getTransport('tcp')
const ws = getTransport('ws')
const open: { close(): unknown }[] = []
const closeAfterTest = <T extends { close(): unknown }>(resource: T): T => {
  open.push(resource)
  return resource
}
afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close()
})
const fixture = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), 'utf8')
/** The certificate and key of every node of a fleet, and the authority that made it. */
const mine = { cert: fixture('node.crt'), key: fixture('node.key') }
const ca = fixture('ca.crt')
const subscriber = { host: '127.0.0.1', identity: 'web1', topics: [], reconnectMs: 20, reconnectMaxMs: 50 }
const body = encodeNetwork({ enc: 'aes', load: Buffer.of(1, 2) })

/** A socket as Python has it, and the frames that arrive on it. */
async function peer(port: number) {
  const socket = connectTcp(port, '127.0.0.1')
  open.push({ close: () => socket.destroy() })
  await once(socket, 'connect')
  const frames: unknown[] = []
  const decoder = new StreamDecoder(decode)
  socket.on('data', (chunk) => frames.push(...decoder.push(chunk)))
  return { socket, frames }
}

describe('a frame', () => {
  test('is read without its head and body being decoded, in either order, with further entries', () => {
    const value = encodeNetwork({ deep: [{ a: 1 }] })
    const head = encodeNetwork({ mid: 'x' })
    const ours = Buffer.concat(packFrame({ head, body: value }))
    expect(decode(ours)).toEqual({ head: { mid: 'x' }, body: { deep: [{ a: 1 }] } })
    const other = encodeNetwork({ body: { deep: [{ a: 1 }] }, more: 1, head: { mid: 'x' } })
    for (const frame of [ours, other]) expect(readFrame(frame)).toEqual({ head, body: value })
  })
  test.each([
    ['a list', encodeNetwork([1, 2])],
    ['a map without body', encodeNetwork({ head: {} })],
    ['cut off', Buffer.concat(packFrame({ head: encodeNetwork({}), body })).subarray(0, -1)],
    ['empty', Buffer.alloc(0)],
  ])('that is %s is refused', (_, frame) => {
    expect(() => readFrame(frame)).toThrow(/head and body|incomplete/)
  })
})

describe('a server over tcp', () => {
  test('answers several requests of one connection, each with its head, in the order in which they are ready', async () => {
    const server = closeAfterTest(await serveRequests(tcp, loopback))
    const held: (() => void)[] = []
    server.serve((request) => new Promise((resolve) => held.unshift(() => resolve(request))))
    const { socket, frames } = await peer(server.port)
    for (const mid of [1, 'two']) socket.write(encodeNetwork({ head: { mid }, body: { asked: mid } }))
    await until('both requests', () => held.length === 2)
    for (const answer of held) answer()
    await eventually(() =>
      expect(frames).toEqual([
        { head: { mid: 'two' }, body: { asked: 'two' } },
        { head: { mid: 1 }, body: { asked: 1 } },
      ]),
    )
  })

  test.each([
    ['no MessagePack', Buffer.of(0xc1, 0xc1)],
    ['no frames', encodeNetwork('GET / HTTP/1.1')],
    ['a frame that is too large', Buffer.from('82a468656164', 'hex')],
  ])('closes a connection that sends %s, and serves others', async (_, bytes) => {
    const server = closeAfterTest(await serveRequests(tcp, { ...loopback, maxFrameSize: 1_000 }))
    server.serve(async (request) => request)
    const { socket } = await peer(server.port)
    const closed = once(socket, 'close')
    socket.write(bytes)
    socket.write(Buffer.concat([Buffer.of(0x80, 0xdb, 0, 0, 0xff, 0xff), Buffer.alloc(2_000)]))
    await closed
    const client = closeAfterTest(tcp.connectRequests({ host: '127.0.0.1', port: server.port }))
    expect(Buffer.from(await client.request(body, 5_000))).toEqual(body)
  })
})

describe('a publisher over tcp', () => {
  /** What a minion of Python Salt sends once it is connected. */
  const introduction = encodeNetwork({
    head: {},
    body: { enc: 'aes', load: Buffer.from('web1'), version: 3 },
  })
  const identify = async (bytes: Uint8Array) => {
    const { load } = decode(bytes) as { readonly load: unknown }
    return String(load) === 'web1' ? ['aaaa', 'broadcast'] : undefined
  }

  test('sends publications to a minion of Python Salt once it has introduced itself', SLOW, async () => {
    const server = closeAfterTest(await tcp.servePublish({ ...loopback, identify }))
    const { socket, frames } = await peer(server.port)
    await eventually(() => expect(server.subscribers).toBe(1))
    socket.write(introduction)
    await eventually(() => expect([...server.topics]).toEqual(['aaaa', 'broadcast']))
    await server.publish(encodeNetwork({ n: 1 }), 'bbbb')
    await server.publish(encodeNetwork({ n: 2 }), 'aaaa')
    await server.publish(encodeNetwork({ n: 3 }))
    await until('two publications', () => frames.length === 2)
    const inner = frames.map((frame) => decode((frame as { body: Buffer }).body))
    expect(inner).toEqual([{ n: 2 }, { n: 3 }])
  })

  test('accepts an introduction at most once per connection, and only a valid one', async () => {
    const server = closeAfterTest(await tcp.servePublish({ ...loopback, identify }))
    const { socket } = await peer(server.port)
    socket.write(encodeNetwork({ head: {}, body: { load: Buffer.from('other') } }))
    socket.write(introduction)
    await eventually(() => expect(server.subscribers).toBe(1))
    expect([...server.topics]).toEqual([])
  })

  test('sends the next publication after one that could not be sent', async () => {
    const server = closeAfterTest(await tcp.servePublish(loopback))
    await expect(server.publish(Symbol('no bytes') as never)).rejects.toThrow('symbol')
    await expect(server.publish(body)).resolves.toBeUndefined()
  })

  test('disconnects a subscriber with a message longer than an introduction', async () => {
    const publisher = closeAfterTest(await tcp.servePublish(loopback))
    const { socket } = await peer(publisher.port)
    socket.on('error', () => undefined)
    const [start, rest] = packFrame({ head: encodeNetwork({}), body: encodeNetwork(Buffer.alloc(100_000)) })
    socket.write(start)
    socket.write(rest)
    await closed(socket)
  })

  test('drops a subscription with more topics than needed', SLOW, async () => {
    const server = closeAfterTest(await tcp.servePublish(loopback))
    const { socket } = await peer(server.port)
    const topics = Array.from({ length: 1_000 }, (_, n) => `${n}`)
    socket.write(encodeNetwork({ head: { topics }, body: {} }))
    await eventually(() => expect(server.subscribers).toBe(1))
    expect(server.topics.size).toBe(0)
  })
})

describe('a subscriber over tcp', () => {
  /** A publisher of Python Salt: it sends frames, and keeps what it gets. */
  async function publisher() {
    const sockets: Socket[] = []
    const got: unknown[] = []
    const server = createServer((socket) => {
      sockets.push(socket)
      const decoder = new StreamDecoder(decodeRaw)
      socket.on('data', (chunk) => got.push(...decoder.push(chunk)))
      socket.on('error', () => {})
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    open.push({
      close() {
        for (const socket of sockets) socket.destroy()
        server.close()
      },
    })
    return { port: (server.address() as { port: number }).port, sockets, got }
  }

  test('introduces itself, and reads publications that are maps, as before Salt 3007, or bytes', async () => {
    const { port, sockets, got } = await publisher()
    const client = closeAfterTest(
      await tcp.subscribe({ ...subscriber, port, introduction: async () => encodeNetwork({ enc: 'aes' }) }),
    )
    await until('the introduction', () => got.length === 1)
    expect(got[0]).toMatchObject({ body: { enc: Buffer.from('aes') } })
    sockets[0]?.write(encodeNetwork({ head: {}, body: { enc: 'aes', n: 1 } }))
    sockets[0]?.write(encodeNetwork({ head: {}, body: encodeNetwork({ enc: 'aes', n: 2 }) }))
    const read: unknown[] = []
    for await (const bytes of client) if (read.push(decode(bytes)) === 2) break
    expect(read).toEqual([
      { enc: 'aes', n: 1 },
      { enc: 'aes', n: 2 },
    ])
  })

  test('disconnects from a publisher that promised heartbeats and is silent', SLOW, async () => {
    const { port, sockets } = await publisher()
    const client = closeAfterTest(await tcp.subscribe({ ...subscriber, port, heartbeat: 'quick' }))
    const states: string[] = []
    client.onConnection((state) => states.push(state))
    await eventually(() => expect(states).toEqual(['up', 'down', 'up']))
    expect(sockets.length).toBe(2)
  })

  test.each([
    ['tcp', tcp],
    ['ws', ws],
  ])(
    'stays with a publisher over %s that has nothing to publish but sends heartbeats',
    SLOW,
    async (_, transport) => {
      const server = closeAfterTest(await transport.servePublish(loopback))
      const client = closeAfterTest(
        await transport.subscribe({ ...subscriber, port: server.port, heartbeat: 'quick' }),
      )
      const states: string[] = []
      client.onConnection((state) => states.push(state))
      await eventually(() => expect(states).toEqual(['up']))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_500) // a process that had no processor has read nothing, and proves nothing
      const started = performance.now()
      await until(
        'more than the time after which a silent one is left',
        () => performance.now() - started > 3_500,
      )
      expect(states).toEqual(['up'])
    },
  )
})

describe('a server over ws', () => {
  test('answers a plain binary message with a binary message, as clients of Salt 3007 expect', async () => {
    const server = closeAfterTest(await serveRequests(ws, loopback))
    server.serve(async (request) => request)
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`)
    open.push({ close: () => socket.terminate() })
    await once(socket, 'open')
    socket.send(body)
    const [answer] = await once(socket, 'message')
    expect(answer).toEqual(body)
  })

  test('refuses pages in a browser, and requests that are not for a WebSocket', async () => {
    const server = closeAfterTest(await serveRequests(ws, loopback))
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/ws`, { origin: 'https://example.com' })
    const [error] = await once(socket, 'error')
    expect(String(error)).toContain('401')
    const answer = await fetch(`http://127.0.0.1:${server.port}/`)
    expect([answer.status, await answer.text()]).toEqual([426, expect.stringContaining('WebSocket')])
  })
})

describe.each(['tcp', 'ws'])('TLS over %s', (name) => {
  const transport = getTransport(name)
  const other = makeSelfSignedCertificate(['127.0.0.1'], { days: 1 })
  const ask = async (server: Tls, client: Tls | undefined) => {
    const { port, serve } = await serveRequests(transport, { ...loopback, tls: server }).then(closeAfterTest)
    serve(async (request) => request)
    const requests = closeAfterTest(transport.connectRequests({ host: '127.0.0.1', port, tls: client }))
    return Buffer.from(await requests.request(body, 3_000))
  }

  test('carries requests and publications, with certificates of both ends', async () => {
    const both: Tls = { ...mine, ca, verify: 'required', checkHost: true }
    expect(await ask(both, both)).toEqual(body)
    const server = closeAfterTest(await transport.servePublish({ ...loopback, tls: both }))
    const client = closeAfterTest(await transport.subscribe({ ...subscriber, port: server.port, tls: both }))
    await eventually(() => expect(server.subscribers).toBe(1))
    await server.publish(encodeNetwork({ n: 1 }))
    for await (const bytes of client) {
      expect(decode(bytes)).toEqual({ n: 1 })
      break
    }
  })

  test('refuses a server whose certificate is not signed by the given authority, and says so', async () => {
    const asked = ask({ ...mine, verify: 'none' }, { ca: other.cert, verify: 'required' })
    await expect(asked).rejects.toMatchObject({
      code: 'MASTER_UNREACHABLE',
      message: expect.stringMatching(/certificate.*'ssl'/),
    })
  })

  test('refuses a client without the certificate that is required', async () => {
    const server: Tls = { ...mine, ca, verify: 'required' }
    await expect(ask(server, { verify: 'none' })).rejects.toMatchObject({
      code: expect.stringMatching('MASTER_UNREACHABLE|TIMEOUT'),
    })
  })

  test('is refused by a peer without it', SLOW, async () => {
    await expect(ask({ ...mine, verify: 'none' }, undefined)).rejects.toMatchObject({
      code: expect.stringMatching('MASTER_UNREACHABLE|TIMEOUT'),
    })
  })
})
