import { connect as connectTcp } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Dealer, Request, Router, Subscriber, XPublisher } from 'zeromq'
import { getTransport } from '../../../core/transport/index.ts'
import { serveRequests } from '../../../core/transport/serve-requests.ts'
import { readRouted } from '../../../core/transport/zeromq/routed.ts'
import { SubscriptionCount } from '../../../core/transport/zeromq/subscription-count.ts'
import { HandshakeGate } from '../../../core/transport/zeromq/zap.ts'
import { freePort } from '../../harness/ports.ts'
import { closed, openConnection, zmtpGreeting, zmtpReady } from '../../harness/raw-connection.ts'
import { SLOW } from '../../harness/slow.ts'
import { eventually } from '../../harness/until.ts'

const zeromq = getTransport('zeromq')
const loopback = { host: '127.0.0.1', port: 0 }
const open: { close(): unknown }[] = []
const closeAfterTest = <T extends { close(): unknown }>(resource: T): T => {
  open.push(resource)
  return resource
}
afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close()
})

describe('frames of a request', () => {
  const frames = (...texts: string[]) => texts.map((text) => Buffer.from(text))

  test.each([
    ['as REQ sends it', frames('id', '', 'x'), frames('id', ''), 'x'],
    ['with more payload, of which only the first counts', frames('id', '', 'x', 'y'), frames('id', ''), 'x'],
    ['through another ROUTER', frames('id', 'hop', '', 'x'), frames('id', 'hop', ''), 'x'],
    ['with an empty payload', frames('id', '', ''), frames('id', ''), ''],
    ['with an empty identity', frames('', '', 'x'), frames('', ''), 'x'],
  ])('%s are parsed', (_, received, path, payload) => {
    expect(readRouted(received)).toEqual({ path, payload: Buffer.from(payload) })
  })

  test.each([
    ['no delimiter', frames('id', 'x')],
    ['no payload', frames('id', '')],
    ['nothing', frames('id')],
  ])('with %s are invalid', (_, received) => {
    expect(readRouted(received)).toBeUndefined()
  })
})

describe('the request server over ZeroMQ', () => {
  test('answers a plain REQ, as Salt’s clients are', async () => {
    const server = closeAfterTest(await serveRequests(zeromq, loopback))
    server.serve(async (request) => Buffer.from(`re: ${request}`))
    const client = closeAfterTest(new Request({ linger: 0 }))
    client.connect(`tcp://127.0.0.1:${server.port}`)
    await client.send(['one', 'ignored'])
    expect(String((await client.receive())[0])).toBe('re: one')
  })

  test('survives messages that are no requests, and garbage on the port', async () => {
    const server = closeAfterTest(await serveRequests(zeromq, loopback))
    server.serve(async (request) => request)
    const dealer = closeAfterTest(new Dealer({ linger: 0 }))
    dealer.connect(`tcp://127.0.0.1:${server.port}`)
    await dealer.send('no delimiter')
    await dealer.send([''])
    const http = connectTcp(server.port, '127.0.0.1')
    http.on('error', () => undefined)
    http.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await dealer.send(['', 'good'])
    expect((await dealer.receive()).map(String)).toEqual(['', 'good'])
    http.destroy()
  })
})

describe('the request client over ZeroMQ', () => {
  test('sends requests to REP workers behind a ROUTER, which answer in any order', async () => {
    const router = closeAfterTest(new Router({ linger: 0 }))
    await router.bind('tcp://127.0.0.1:0')
    const client = closeAfterTest(
      zeromq.connectRequests({ ...loopback, port: Number(router.lastEndpoint?.split(':').pop()) }),
    )
    const answers = ['a', 'b', 'c'].map((text) => client.request(Buffer.from(text), 5000))
    const received = [await router.receive(), await router.receive(), await router.receive()]
    for (const frames of received.reverse()) await router.send(frames)
    expect((await Promise.all(answers)).map(String)).toEqual(['a', 'b', 'c'])
  })

  /** A server that answers, and hangs up on whoever connects while its door is shut. */
  async function serveBehindDoor() {
    const router = closeAfterTest(new Router({ linger: 0, zapDomain: 'salt' }))
    await router.bind('tcp://127.0.0.1:0')
    const door = closeAfterTest(new HandshakeGate())
    void (async () => {
      for await (const frames of router) await router.send(frames).catch(() => undefined)
    })()
    return { port: Number(router.lastEndpoint?.split(':').pop()), door }
  }

  test('sends all requests over existing connections if the server accepts no new ones', async () => {
    const { port, door } = await serveBehindDoor()
    const client = closeAfterTest(zeromq.connectRequests({ ...loopback, port }))
    await client.request(Buffer.from('first'), 60_000)
    await door.refuse()
    const words = ['a', 'b', 'c', 'd']
    const answers = words.map((word) => client.request(Buffer.from(word), 60_000))
    expect((await Promise.all(answers)).map(String)).toEqual(words)
  })

  test('a handshake gate works right after the last one of the process was closed', async () => {
    for (let round = 0; round < 50; round++) {
      const gate = new HandshakeGate()
      await gate.refuse()
      gate.close()
    }
  })

  test(
    'reports a server that listens but accepts no connection as a time-out, not as down, also with failFast',
    SLOW,
    async () => {
      const { port, door } = await serveBehindDoor()
      await door.refuse()
      const client = closeAfterTest(zeromq.connectRequests({ ...loopback, port, failFast: true }))
      await expect(client.request(Buffer.from('x'), 2_000)).rejects.toMatchObject({
        code: 'TIMEOUT',
        message: expect.stringMatching(
          /within 2 seconds: a process listens there but completes no handshake/,
        ),
      })
      const answer = client.request(Buffer.from('x'), 60_000)
      door.accept()
      expect(String(await answer)).toBe('x')
    },
  )

  test('sends a request once, and fails at once when the server vanishes', async () => {
    const first = new Router({ linger: 0 })
    await first.bind('tcp://127.0.0.1:0')
    const port = Number(first.lastEndpoint?.split(':').pop())
    const client = closeAfterTest(zeromq.connectRequests({ ...loopback, port }))
    const request = client.request(Buffer.from('publish!'), 60_000)
    // Awaited later: the loss is known before the port is free for the next server, or after it.
    const givenUp = expect(request).rejects.toMatchObject({ code: 'MASTER_UNREACHABLE' })
    await first.receive()
    first.close()
    const second = closeAfterTest(await serveRequests(zeromq, { ...loopback, port }))
    const seen: string[] = []
    second.serve(async (frame) => {
      seen.push(String(frame))
      return frame
    })
    await givenUp
    expect(String(await client.request(Buffer.from('next'), 5000))).toBe('next')
    expect(seen).toEqual(['next'])
  })

  test('waits for a server that is not up yet; with failFast it fails at once, and reaches the server once it is up', async () => {
    const port = await freePort()
    const impatient = closeAfterTest(zeromq.connectRequests({ ...loopback, port, failFast: true }))
    const patient = closeAfterTest(zeromq.connectRequests({ ...loopback, port }))
    const waiting = patient.request(Buffer.from('patient'), 60_000)
    for (const word of ['one', 'two'])
      await expect(impatient.request(Buffer.from(word), 60_000)).rejects.toMatchObject({
        code: 'MASTER_UNREACHABLE',
        message: `Nothing listens at 127.0.0.1:${port}; check that the master runs.`,
      })
    const server = closeAfterTest(await serveRequests(zeromq, { ...loopback, port }))
    server.serve(async (frame) => frame)
    expect(String(await waiting)).toBe('patient')
    expect(String(await impatient.request(Buffer.from('three'), 60_000))).toBe('three')
  })

  test('rejects only its requests when the server vanishes', async () => {
    const unseen = vi.fn()
    process.on('unhandledRejection', unseen)
    const server = new Router({ linger: 0 })
    await server.bind('tcp://127.0.0.1:0')
    const client = closeAfterTest(
      zeromq.connectRequests({ ...loopback, port: Number(server.lastEndpoint?.split(':').pop()) }),
    )
    const requests = ['a', 'b', 'c'].map((word) => client.request(Buffer.from(word), 60_000))
    const ends = Promise.allSettled(requests)
    for (const _ of requests) await server.receive()
    server.close()
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await client.close()
    await new Promise((done) => setImmediate(done)) // after it Node has told of rejections nobody handles
    process.off('unhandledRejection', unseen)
    expect(unseen).not.toHaveBeenCalled()
  })

  test('reports an invalid address', async () => {
    const client = closeAfterTest(zeromq.connectRequests({ host: 'not a host', port: 4506 }))
    await expect(client.request(Buffer.from('x'), 1000)).rejects.toMatchObject({ code: 'MASTER_UNREACHABLE' })
    const subscribing = zeromq.subscribe({ host: 'not a host', port: 4505, identity: 'm1', topics: [] })
    await expect(subscribing).rejects.toMatchObject({ code: 'MASTER_UNREACHABLE' })
  })
})

describe('publications over ZeroMQ', () => {
  const subscribeTo = async (port: number) =>
    closeAfterTest(
      await zeromq.subscribe({
        ...loopback,
        port,
        identity: 'm1',
        topics: [],
        reconnectMs: 20,
        reconnectMaxMs: 50,
      }),
    )

  test('reach a plain SUB socket, as minions of Salt use it: one frame, or topic and payload', async () => {
    const server = closeAfterTest(await zeromq.servePublish(loopback))
    const minion = closeAfterTest(new Subscriber({ linger: 0 }))
    minion.subscribe('')
    minion.connect(`tcp://127.0.0.1:${server.port}`)
    await eventually(() => expect(server.subscribers).toBe(1))
    await server.publish(Buffer.from('payload'))
    await server.publish(Buffer.from('payload'), 'broadcast')
    expect((await minion.receive()).map(String)).toEqual(['payload'])
    expect((await minion.receive()).map(String)).toEqual(['broadcast', 'payload'])
  })

  test('a subscriber with a topic longer than any of Salt is disconnected: libzmq needs much memory for one', async () => {
    const publisher = closeAfterTest(await zeromq.servePublish(loopback))
    const socket = await openConnection(publisher.port)
    closeAfterTest({ close: () => socket.destroy() })
    const topic = Buffer.alloc(2_000, 'a')
    const head = Buffer.alloc(9)
    head.writeUInt8(2) // a long frame
    head.writeBigUInt64BE(BigInt(topic.length + 1), 1)
    for (const part of [zmtpGreeting('NULL'), zmtpReady('SUB'), head, Buffer.of(1), topic]) socket.write(part)
    await closed(socket)
  })

  test('are received again after another program used the port for a while', SLOW, async () => {
    const wrong = new Router({ linger: 0 })
    await wrong.bind('tcp://127.0.0.1:0')
    const port = Number(wrong.lastEndpoint?.split(':').pop())
    const client = await subscribeTo(port)
    for await (const event of wrong.events) if (event.type === 'disconnect') break
    wrong.close()
    const server = closeAfterTest(await zeromq.servePublish({ ...loopback, port }))
    await eventually(() => expect(server.subscribers).toBe(1))
    await server.publish(Buffer.from('x'))
    for await (const payload of client) {
      expect(String(payload)).toBe('x')
      break
    }
  })

  test('are read with and without a topic', async () => {
    const publisher = closeAfterTest(new XPublisher({ linger: 0 }))
    await publisher.bind('tcp://127.0.0.1:0')
    const client = await subscribeTo(Number(publisher.lastEndpoint?.split(':').pop()))
    await publisher.receive()
    await publisher.send(['broadcast', 'one'])
    await publisher.send('two')
    const payloads: string[] = []
    for await (const payload of client) if (payloads.push(String(payload)) === 2) break
    expect(payloads).toEqual(['one', 'two'])
  })
})

describe('the count of subscriptions', () => {
  const frame = (kind: number, topic: string) => Buffer.concat([Buffer.from([kind]), Buffer.from(topic)])

  test('counts subscribers to everything and to broadcasts', () => {
    const count = new SubscriptionCount()
    for (const topic of ['', '', 'broadcast', 'aaaa']) count.read(frame(1, topic))
    expect(count.subscribers).toBe(3)
    expect([...count.topics].sort()).toEqual(['aaaa', 'broadcast'])
    count.read(frame(0, ''))
    count.read(frame(0, 'aaaa'))
    expect(count.subscribers).toBe(2)
    expect([...count.topics]).toEqual(['broadcast'])
  })

  test('ignores invalid subscriptions', () => {
    const count = new SubscriptionCount()
    for (const message of [
      Buffer.alloc(0),
      frame(2, ''),
      frame(0, 'never there'),
      frame(1, 'x'.repeat(1000)),
    ]) {
      count.read(message)
    }
    count.read(Buffer.from([1, 0x85]))
    expect(count.subscribers).toBe(0)
    expect(count.topics.size).toBe(0)
  })
})

describe('a host without an address', () => {
  const ask = (host: string, ipv6 = false) =>
    closeAfterTest(zeromq.connectRequests({ host, port: 4506, ipv6 })).request(Buffer.from('x'), 60_000)

  test('is reported at once, and not after a time-out', async () => {
    await expect(ask('nosuch.invalid')).rejects.toMatchObject({
      code: 'MASTER_UNREACHABLE',
      message: expect.stringMatching(
        /^The master nosuch\.invalid cannot be resolved \(.*\)\. Check the name/,
      ),
    })
  })

  test('because IPv6 is off is reported with how to enable it', async () => {
    const sentence = 'The master ::1 is an IPv6 address, and IPv6 is off. Set ipv6: true.'
    await expect(ask('::1')).rejects.toMatchObject({ code: 'MASTER_UNREACHABLE', message: sentence })
  })

  test('to listen on, because IPv6 is off, is reported with how to enable it', async () => {
    const bound = serveRequests(zeromq, { host: '::1', port: 0 })
    await expect(bound).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message:
        "Cannot listen on ::1: it is an IPv6 address, and IPv6 is off. Set ipv6: true, or another 'interface'.",
    })
  })
})
