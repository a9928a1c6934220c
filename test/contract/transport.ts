import { afterEach, describe, expect, test } from 'vitest'
import { decode, encodeLocal } from '../../core/codec/index.ts'
import type {
  ClientSettings,
  PublishClient,
  ServerSettings,
  SubscribeSettings,
  Transport,
} from '../../core/transport/contract.ts'
import { serveRequests as serve } from '../../core/transport/serve-requests.ts'
import { freePort } from '../harness/ports.ts'
import { SLOW } from '../harness/slow.ts'
import { eventually } from '../harness/until.ts'

const HOST = '127.0.0.1'
/** A MessagePack value, as all of Salt's messages are. */
const frame = (text: string) => encodeLocal(text)
const text = (bytes: Uint8Array) => decode(bytes)
/** A MessagePack map whose only value is the text, as a publication is. */
const payload = (value: string) =>
  Buffer.concat([Buffer.from([0x81, 0xa1, 0x78, 0xd9, value.length]), Buffer.from(value)])
const valueIn = (bytes: Uint8Array | undefined) => Buffer.from(bytes?.subarray(5) ?? []).toString()

/** What every transport must do. `shared`: several servers of one address are the members of a group. */
export function transportContract(transport: Transport, { shared = false } = {}): void {
  const open: { close(): Promise<void> }[] = []
  const own = <T extends { close(): Promise<void> }>(resource: T): T => {
    open.push(resource)
    return resource
  }
  afterEach(async () => {
    for (const resource of open.splice(0).reverse()) await resource.close()
  })

  const serveRequests = async (settings: Partial<ServerSettings> = {}) =>
    own(await serve(transport, { host: HOST, port: 0, ...settings }))
  const connect = (port: number, settings: Partial<ClientSettings> = {}) =>
    own(transport.connectRequests({ host: HOST, port, ...settings }))
  const servePublish = async (settings: Partial<ServerSettings> = {}) =>
    own(await transport.servePublish({ host: HOST, port: 0, ...settings }))
  const subscribe = async (port: number, settings: Partial<SubscribeSettings> = {}) =>
    own(
      await transport.subscribe({
        host: HOST,
        port,
        identity: 'm1',
        topics: [],
        reconnectMs: 20,
        reconnectMaxMs: 50,
        ...settings,
      }),
    )

  describe('requests', () => {
    test('answers each request', async () => {
      const server = await serveRequests()
      server.serve(async (request) => frame(`re: ${text(request)}`))
      const client = connect(server.port)
      expect(text(await client.request(frame('one'), 5000))).toBe('re: one')
      expect(text(await client.request(frame('two'), 5000))).toBe('re: two')
    })

    test('matches answers to concurrent requests in whatever order they are ready', async () => {
      const server = await serveRequests()
      const held: (() => void)[] = []
      server.serve(
        (request) =>
          new Promise((resolve) => {
            held.push(() => resolve(request))
            if (held.length === 20) for (const release of held.reverse()) release()
          }),
      )
      const client = connect(server.port)
      const words = Array.from({ length: 20 }, (_, i) => `request ${i}`)
      const answers = await Promise.all(words.map((word) => client.request(frame(word), 5000)))
      expect(answers.map(text)).toEqual(words)
    })

    test('serves more requests at once than it has connections', async () => {
      const server = await serveRequests()
      server.serve(async (request) => request)
      const client = connect(server.port)
      const words = Array.from({ length: 300 }, (_, i) => `${i}`)
      const answers = await Promise.all(words.map((word) => client.request(frame(word), 10_000)))
      expect(answers.map(text)).toEqual(words)
    })

    test('carries empty, binary and large frames unchanged', async () => {
      const server = await serveRequests()
      server.serve(async (request) => request)
      const client = connect(server.port)
      const bytes = [Buffer.from([0, 255, 10, 0]), Buffer.alloc(3_000_000, 7)].map((each) =>
        encodeLocal(each),
      )
      for (const request of [Buffer.alloc(0), ...bytes]) {
        expect(Buffer.compare(await client.request(request, 5000), request)).toBe(0)
      }
    })

    test('is not affected by later changes of the buffer of the sender', async () => {
      const server = await serveRequests()
      server.serve(async (request) => request)
      const request = frame('before')
      const answer = connect(server.port).request(request, 5000)
      await answer
      request.fill('x')
      expect(text(await answer)).toBe('before')
    })

    test('answers requests that came before its handler was set', async () => {
      const server = await serveRequests()
      const answer = connect(server.port).request(frame('early'), 5000)
      server.serve(async (request) => request)
      expect(text(await answer)).toBe('early')
    })

    test('rejects with TIMEOUT when no server listens', async () => {
      const request = connect(await freePort()).request(frame('x'), 150)
      await expect(request).rejects.toMatchObject({ code: 'TIMEOUT' })
    })

    test('rejects with TIMEOUT when the answer does not come, and never gives a late answer to another request', async () => {
      const server = await serveRequests()
      const late: (() => void)[] = []
      server.serve((request) =>
        text(request) === 'slow'
          ? new Promise((resolve) => late.push(() => resolve(frame('late'))))
          : Promise.resolve(frame('prompt')),
      )
      const client = connect(server.port)
      await expect(client.request(frame('slow'), 100)).rejects.toMatchObject({ code: 'TIMEOUT' })
      for (const answer of late) answer()
      for (let i = 0; i < 5; i++) expect(text(await client.request(frame('next'), 5000))).toBe('prompt')
    })

    test('sends a request before the server has started', async () => {
      const port = await freePort()
      const answer = connect(port).request(frame('waiting'), 10_000)
      const server = await serveRequests({ port })
      server.serve(async (request) => request)
      expect(text(await answer)).toBe('waiting')
    })

    test('reaches the server again after it was restarted', async () => {
      const first = await serve(transport, { host: HOST, port: 0 })
      first.serve(async () => frame('first'))
      const client = connect(first.port)
      expect(text(await client.request(frame('x'), 5000))).toBe('first')
      await first.close()
      const second = await serveRequests({ port: first.port })
      second.serve(async () => frame('second'))
      await eventually(async () => expect(text(await client.request(frame('x'), 300))).toBe('second'))
    })

    test('answers requests under way before it closes', async () => {
      const server = await serveRequests()
      let release = () => {}
      const taken = new Promise<void>((resolve) => {
        server.serve(
          (request) =>
            new Promise((answer) => {
              release = () => answer(request)
              resolve()
            }),
        )
      })
      const answer = connect(server.port).request(frame('in work'), 5000)
      await taken
      const closed = server.close()
      release()
      await closed
      expect(text(await answer)).toBe('in work')
    })

    test('gives an empty answer, not silence, when answering fails', async () => {
      const server = await serveRequests()
      server.serve(async () => {
        throw new Error('broken')
      })
      expect((await connect(server.port).request(frame('x'), 5000)).length).toBe(0)
    })

    test('rejects with CANCELLED what is under way when the client closes, and what comes later', async () => {
      const client = connect(await freePort())
      const request = expect(client.request(frame('x'), 60_000)).rejects.toMatchObject({
        code: 'CANCELLED',
      })
      await client.close()
      await request
      await expect(client.request(frame('x'), 60_000)).rejects.toMatchObject({ code: 'CANCELLED' })
    })

    test('refuses frames above the limit, and serves later ones', async () => {
      const server = await serveRequests({ maxFrameSize: 1000 })
      server.serve(async (request) => request)
      const client = connect(server.port)
      const refused = client.request(encodeLocal(Buffer.alloc(2000)), 200)
      await expect(refused).rejects.toMatchObject({
        code: expect.stringMatching('TIMEOUT|MASTER_UNREACHABLE'),
      })
      expect(text(await client.request(frame('small'), 5000))).toBe('small')
    })

    if (!shared)
      test('refuses a port that is taken, and says by whom', SLOW, async () => {
        const { port } = await serveRequests()
        const second = serve(transport, { host: HOST, port })
        await expect(second).rejects.toMatchObject({
          code: 'ADDRESS_IN_USE',
          data: { port, pid: process.pid },
        })
        await expect(second).rejects.toThrow(`${HOST}:${port}`)
      })
  })

  describe('publications', () => {
    const subscribed = (server: { subscribers: number }, count: number) =>
      eventually(() => expect(server.subscribers).toBe(count))
    const take = async (client: PublishClient, count: number) => {
      const taken: string[] = []
      for await (const bytes of client) if (taken.push(valueIn(bytes)) === count) break
      return taken
    }

    test('reach every subscriber in order', async () => {
      const server = await servePublish()
      const clients = await Promise.all([subscribe(server.port), subscribe(server.port, { identity: 'm2' })])
      await subscribed(server, 2)
      for (const word of ['a', 'b', 'c']) await server.publish(payload(word))
      expect(await Promise.all(clients.map((client) => take(client, 3)))).toEqual([
        ['a', 'b', 'c'],
        ['a', 'b', 'c'],
      ])
    })

    test('may be sent without waiting for one another', async () => {
      const server = await servePublish()
      const client = await subscribe(server.port)
      await subscribed(server, 1)
      const words = Array.from({ length: 500 }, (_, i) => `${i}`)
      await Promise.all(words.map((word) => server.publish(payload(word))))
      expect(await take(client, 500)).toEqual(words)
    })

    test('with a topic reach its subscribers, and without one all subscribers', async () => {
      const server = await servePublish()
      const one = await subscribe(server.port, { topics: ['broadcast', 'aaaa'] })
      const two = await subscribe(server.port, { topics: ['broadcast', 'bbbb'], identity: 'm2' })
      await subscribed(server, 2)
      await server.publish(payload('for one'), 'aaaa')
      await server.publish(payload('for two'), 'bbbb')
      await server.publish(payload('for a longer topic'), 'broadcasting')
      await server.publish(payload('for both'), 'broadcast')
      await server.publish(payload('for all'))
      expect(await take(one, 3)).toEqual(['for one', 'for both', 'for all'])
      expect(await take(two, 3)).toEqual(['for two', 'for both', 'for all'])
    })

    test('are subscribed to by topics that the publisher can see', async () => {
      const server = await servePublish()
      const one = await subscribe(server.port, { topics: ['', 'aaaa'] })
      await subscribe(server.port, { topics: ['broadcast', 'bbbb'], identity: 'm2' })
      await subscribed(server, 2)
      await eventually(() => expect([...server.topics].sort()).toEqual(['aaaa', 'bbbb', 'broadcast']))
      await server.publish(payload('x'), 'any topic')
      expect(await take(one, 1)).toEqual(['x'])
      await one.close()
      await eventually(() => expect([...server.topics].sort()).toEqual(['bbbb', 'broadcast']))
    })

    test('with a topic reach subscribers to everything, except for topics that are not addressed to them', async () => {
      const server = await servePublish()
      const any = await subscribe(server.port)
      const own = await subscribe(server.port, { addressed: ['broadcast', 'aaaa'], identity: 'm2' })
      await subscribed(server, 2)
      await server.publish(payload('not addressed'), 'bbbb')
      await server.publish(payload('addressed'), 'aaaa')
      await server.publish(payload('plain'))
      expect(await take(any, 3)).toEqual(['not addressed', 'addressed', 'plain'])
      expect(await take(own, 2)).toEqual(['addressed', 'plain'])
    })

    test('continue after the publisher was restarted, and the subscriber is notified of both', async () => {
      const first = await transport.servePublish({ host: HOST, port: 0 })
      const client = await subscribe(first.port)
      const states: string[] = []
      client.onConnection((state) => states.push(state))
      await subscribed(first, 1)
      await eventually(() => expect(states).toEqual(['up']))
      await first.close()
      await eventually(() => expect(states).toEqual(['up', 'down']))
      const second = await servePublish({ port: first.port })
      await subscribed(second, 1)
      await eventually(() => expect(states).toEqual(['up', 'down', 'up']))
      await second.publish(payload('again'))
      expect(await take(client, 1)).toEqual(['again'])
    })

    test('can be subscribed to before the publisher has started', async () => {
      const port = await freePort()
      const client = await subscribe(port)
      const server = await servePublish({ port })
      await subscribed(server, 1)
      await server.publish(payload('hello'))
      expect(await take(client, 1)).toEqual(['hello'])
    })

    test('are no longer sent to a subscriber that left', async () => {
      const server = await servePublish()
      const client = await subscribe(server.port)
      await subscribed(server, 1)
      await client.close()
      await subscribed(server, 0)
    })

    test('end for the reader when the subscriber is closed', async () => {
      const server = await servePublish()
      const client = await subscribe(server.port)
      const reading = take(client, 1)
      await subscribed(server, 1)
      await client.close()
      expect(await reading).toEqual([])
    })

    test('that a stuck subscriber cannot take are counted, and reach the others', SLOW, async () => {
      const server = await servePublish({ highWaterMark: 10 })
      await subscribe(server.port, { identity: 'stuck' })
      const reader = await subscribe(server.port)
      await subscribed(server, 2)
      let read = 0
      const reading = (async () => {
        for await (const _ of reader) read++
      })()
      const big = encodeLocal({ x: Buffer.alloc(4_000) })
      let sent = 0
      while (server.dropped === 0 && sent < 50_000) {
        await server.publish(big)
        sent++
        while (read < sent) await new Promise(setImmediate)
      }
      expect(server.dropped).toBeGreaterThanOrEqual(1)
      expect(read).toBe(sent)
      await reader.close()
      await reading
    })

    if (!shared)
      test('are refused a port that is taken', SLOW, async () => {
        const { port } = await servePublish()
        await expect(transport.servePublish({ host: HOST, port })).rejects.toMatchObject({
          code: 'ADDRESS_IN_USE',
        })
      })
  })
}
