import { once } from 'node:events'
import { stat, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { encodeLocal } from '../../../core/codec/index.ts'
import { FrameReader } from '../../../core/events/frames.ts'
import { type Event, EventBus, EventPublisher, type PublisherSettings } from '../../../core/events/index.ts'
import { fakeLog } from '../../../core/testing/recording-log.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { quietLog } from '../../harness/log.ts'
import { eventually } from '../../harness/until.ts'

let directory: string
let sockets: { pubPath: string; pullPath: string }
let open: { close(): Promise<void> }[] = []
const own = <T extends { close(): Promise<void> }>(resource: T): T => {
  open.push(resource)
  return resource
}
const openPublisher = async (settings: Partial<PublisherSettings> = {}) =>
  own(await EventPublisher.open({ ...sockets, maxEventSize: 1_048_576, ...settings }))
const openBus = async () => own(await EventBus.connect(sockets))
const take = async (events: AsyncIterable<Event>, count: number) => {
  const taken: Event[] = []
  for await (const event of events) if (taken.push(event) === count) break
  return taken
}
const tagsOf = async (events: AsyncIterable<Event>, count: number) =>
  (await take(events, count)).map(({ tag }) => tag)

beforeEach(async () => {
  directory = await temporaryFolder('events-')
  sockets = { pubPath: join(directory, 'pub.ipc'), pullPath: join(directory, 'pull.ipc') }
})
afterEach(async () => {
  for (const resource of open.reverse()) await resource.close()
  open = []
  await removeFolder(directory)
})

describe('the event bus', () => {
  test('delivers events of one process to all subscribers', async () => {
    await openPublisher()
    const [one, two] = [await openBus(), await openBus()]
    const streams = [one.subscribe('a/'), two.subscribe('a/')]
    await one.fire('a/1', { x: 1 })
    await two.fire('b/1', {})
    await one.fire('a/2', { x: 2 })
    for (const stream of streams) {
      const events = await take(stream, 2)
      expect(events.map(({ tag, data }) => [tag, data.x])).toEqual([
        ['a/1', 1],
        ['a/2', 2],
      ])
      expect(events[0]?.data._stamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/)
    }
  })

  test('delivers events of the publisher itself, which also receives all events', async () => {
    const seen: string[] = []
    const publisher = await openPublisher({ onEvent: ({ tag }) => void seen.push(tag) })
    const bus = await openBus()
    const stream = bus.subscribe('')
    publisher.publish('from/publisher', {})
    await bus.fire('from/bus', {})
    expect(await tagsOf(stream, 2)).toEqual(['from/publisher', 'from/bus'])
    expect(seen).toEqual(['from/publisher', 'from/bus'])
  })

  test('delivers every event that is fired after a subscriber connected', async () => {
    await openPublisher()
    const firing = await openBus()
    for (let round = 0; round < 30; round++) {
      const bus = await openBus()
      const stream = bus.subscribe(`round/${round}`)
      await firing.fire(`round/${round}`, {})
      expect((await take(stream, 1)).length).toBe(1)
    }
  })

  test('filters events by a function of the tag as well', async () => {
    const publisher = await openPublisher()
    const stream = (await openBus()).subscribe((tag) => tag.endsWith('/ret'))
    publisher.publish('1/new', {})
    publisher.publish('1/ret', {})
    expect(await tagsOf(stream, 1)).toEqual(['1/ret'])
  })

  test('ends a subscription by its close, by the signal, and with the bus', async () => {
    const publisher = await openPublisher()
    const bus = await openBus()
    const abort = new AbortController()
    const streams = [bus.subscribe(''), bus.subscribe('', abort.signal), bus.subscribe('')]
    const ends = streams.map((stream) => take(stream, 1))
    streams[0]?.close()
    abort.abort()
    expect(await Promise.all(ends.slice(0, 2))).toEqual([[], []])
    publisher.publish('still/here', {})
    expect((await ends[2])?.length).toBe(1)
    const last = take(bus.subscribe(''), 1)
    await bus.close()
    expect(await last).toEqual([])
    expect(await take(bus.subscribe(''), 1)).toEqual([])
  })

  test('drops the oldest events for a subscriber that does not read, and reports the gap', async () => {
    const publisher = await openPublisher()
    const bus = await openBus()
    let missed = 0
    const slow = bus.subscribe('n/', undefined, {
      maxEvents: 10,
      onGap: (count) => {
        missed += count ?? 0
      },
    })
    const all = bus.subscribe('n/')
    for (let n = 0; n < 100; n++) publisher.publish(`n/${n}`, {})
    expect((await take(all, 100)).length).toBe(100)
    expect(missed).toBe(90)
    expect(await tagsOf(slow, 2)).toEqual(['n/90', 'n/91'])
  })

  test('reconnects when the publisher restarts, and reports a gap', async () => {
    const first = await EventPublisher.open({ ...sockets, maxEventSize: 1000 })
    const bus = await openBus()
    const onGap = vi.fn()
    const reconnected = new Promise<void>((resolve) => bus.onReconnect(resolve))
    const stream = bus.subscribe('', undefined, { onGap })
    first.publish('before', {})
    await first.close()
    const second = await openPublisher()
    await reconnected
    await eventually(() => expect(second.readers).toBe(1))
    await bus.fire('after', {})
    expect(await tagsOf(stream, 2)).toEqual(['before', 'after'])
    expect(onGap).toHaveBeenCalledExactlyOnceWith(undefined)
  })

  test('fires events that were waiting when the publisher is back', async () => {
    const first = await EventPublisher.open({ ...sockets, maxEventSize: 1000 })
    const bus = await openBus()
    await bus.fire('a', {})
    await first.close()
    const fired = bus.fire('b', {})
    const seen = new Promise<string>((resolve) => {
      void openPublisher({ onEvent: ({ tag }) => resolve(tag) })
    })
    expect(await seen).toBe('b')
    await fired
  })

  test('confirms events that were published, and sends again those that a dead publisher did not confirm', async () => {
    const frames = new FrameReader()
    const dying = createServer((socket) => {
      let taken = 0
      socket.on('data', (chunk) => {
        for (const { confirm } of frames.push(chunk)) {
          expect(confirm).toBe(true)
          if (++taken === 1) socket.write(Buffer.alloc(1))
          else socket.destroy()
        }
      })
      socket.on('error', () => undefined)
    })
    const listening = await openPublisher()
    const pullPath = join(directory, 'dying.ipc')
    await once(dying.listen(pullPath), 'listening')
    const bus = own(await EventBus.connect({ ...sockets, pullPath, confirmed: true }))
    await bus.fire('confirmed', {})
    const fired = bus.fire('taken by one that dies', {})
    await new Promise((resolve) => dying.once('close', resolve).close())
    const seen = new Promise<string>((resolve) => {
      void openPublisher({
        pubPath: join(directory, 'other.ipc'),
        pullPath,
        onEvent: ({ tag }) => resolve(tag),
      })
    })
    expect(await seen).toBe('taken by one that dies')
    await fired
    expect(listening.readers).toBe(1)
  })

  test('connects in advance if its events are to be confirmed', async () => {
    await openPublisher()
    const pullPath = join(directory, 'other.ipc')
    const pull = createServer()
    await once(pull.listen(pullPath), 'listening')
    const connected = once(pull, 'connection')
    own(await EventBus.connect({ ...sockets, pullPath, confirmed: true }))
    const [socket] = await connected
    socket.destroy()
    pull.close()
  })

  test('trims events that are too large', async () => {
    await openPublisher()
    const bus = own(await EventBus.connect({ ...sockets, maxEventSize: 1000 }))
    const stream = bus.subscribe('')
    await bus.fire('big', { id: 'm1', return: 'x'.repeat(5000) })
    const [event] = await take(stream, 1)
    expect(event?.data).toMatchObject({ id: 'm1', return: 'VALUE_TRIMMED' })
  })

  test('reports that no daemon runs', async () => {
    await expect(EventBus.connect(sockets)).rejects.toMatchObject({ code: 'MASTER_UNREACHABLE' })
    await expect(EventBus.connect(sockets)).rejects.toThrow(sockets.pubPath)
  })

  test('works over loopback TCP', async () => {
    sockets = { pubPath: 'tcp://127.0.0.1:0', pullPath: 'tcp://127.0.0.1:0' }
    sockets = (await openPublisher()).addresses
    const bus = await openBus()
    const stream = bus.subscribe('')
    await bus.fire('over/tcp', {})
    expect(await tagsOf(stream, 1)).toEqual(['over/tcp'])
  })
})

describe('the event publisher', () => {
  const push = async (...chunks: Uint8Array[]): Promise<Socket> => {
    const socket = connect(sockets.pullPath)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    for (const chunk of chunks) socket.write(chunk)
    return socket
  }
  const frame = (body: unknown, head: unknown = {}) => encodeLocal({ head, body })

  test('makes its sockets for the owner only, and for a group on request', async () => {
    await openPublisher({ mode: 0o660 })
    expect((await stat(sockets.pubPath)).mode & 0o777).toBe(0o660)
    expect((await stat(sockets.pullPath)).mode & 0o777).toBe(0o600)
    await open.pop()?.close()
    await openPublisher()
    expect((await stat(sockets.pubPath)).mode & 0o777).toBe(0o600)
  })

  test('replaces a dead publisher, but not a living one', async () => {
    await openPublisher()
    await expect(EventPublisher.open({ ...sockets, maxEventSize: 1 })).rejects.toMatchObject({
      code: 'ADDRESS_IN_USE',
    })
    const bus = await openBus()
    const stream = bus.subscribe('')
    await bus.fire('alive', {})
    expect(await tagsOf(stream, 1)).toEqual(['alive'])
  })

  test('removes the socket of a killed one', async () => {
    const dead = createServer().listen(sockets.pubPath)
    await once(dead, 'listening')
    // Closing the handle behind the server's back leaves the file, as a killed process does.
    const { rename } = await import('node:fs/promises')
    await rename(sockets.pubPath, `${sockets.pubPath}.kept`)
    dead.close()
    await rename(`${sockets.pubPath}.kept`, sockets.pubPath)
    await openPublisher()
    await openBus()
  })

  test('does not remove a file that is no socket', async () => {
    await writeFile(sockets.pubPath, 'precious')
    await expect(openPublisher()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  test('reports a missing directory, or a path that is too long', async () => {
    const missing = join(directory, 'missing', 'pub.ipc')
    await expect(openPublisher({ pubPath: missing })).rejects.toThrow(
      /^The directory of the socket .* does not exist/,
    )
    await expect(openPublisher({ pubPath: `/tmp/${'x'.repeat(200)}` })).rejects.toThrow(/sock_dir/)
  })

  test('passes pushed bodies to readers unchanged, whatever their head is', async () => {
    await openPublisher()
    const reader = connect(sockets.pubPath)
    await once(reader, 'connect')
    const body = Buffer.from('tag\n\n\x81\xa1a\x01', 'latin1')
    const pusher = await push(frame(body, { mid: 7, other: 'x' }))
    const [chunk] = await once(reader, 'data')
    expect(chunk).toEqual(frame(body))
    for (const socket of [reader, pusher]) socket.destroy()
  })

  test('accepts frames in pieces, many at once, and bodies that are text', async () => {
    const seen: string[] = []
    await openPublisher({ onEvent: ({ tag }) => void seen.push(tag) })
    const bytes = Buffer.concat(['1', '2', '3'].map((tag) => frame(Buffer.from(`${tag}\n\n\x80`, 'latin1'))))
    const pusher = await push(...Array.from(bytes, (byte) => Buffer.from([byte])))
    await eventually(() => expect(seen).toEqual(['1', '2', '3']))
    pusher.write('\x82\xa4head\x80\xa4body\xa7text\n\n\x80', 'latin1')
    await eventually(() => expect(seen).toEqual(['1', '2', '3', 'text']))
    pusher.destroy()
  })

  test.each([
    ['bytes that are no MessagePack', Buffer.from([0xc1, 0xc1])],
    ['a value that is no map', encodeLocal([1, 2])],
    ['nil', encodeLocal(null)],
    ['a map without body', encodeLocal({ head: {} })],
    ['a body that is no bytes', frame(17)],
    ['a body without tag', frame(Buffer.from('\n\n\x80', 'latin1'))],
    ['a body without empty line', frame(Buffer.from('no separator'))],
  ])('closes a connection that pushes %s, and keeps serving others', async (_, bytes) => {
    const warn = vi.fn()
    await openPublisher({ log: { ...quietLog, warn } })
    const bus = await openBus()
    const stream = bus.subscribe('')
    const pusher = await push(bytes)
    await once(pusher, 'close')
    expect(warn).toHaveBeenCalledOnce()
    await bus.fire('good', {})
    expect(await tagsOf(stream, 1)).toEqual(['good'])
  })

  test('logs at debug where its sockets are, and each event that it is given or a bus fires', async () => {
    const { log, lines } = fakeLog()
    const publisher = await openPublisher({ name: 'MasterEvent', log })
    publisher.publish('x', { a: 1 })
    const bus = own(await EventBus.connect({ ...sockets, log }))
    await bus.fire('y', { b: 2 })
    const { pubPath, pullPath } = sockets
    const told = (level: string, message: string, facts: object) => ({ level, message, facts })
    const pub = (name: string) => told('debug', '{name} PUB socket URI: {pubPath}', { name, pubPath })
    const pull = (name: string) => told('debug', '{name} PULL socket URI: {pullPath}', { name, pullPath })
    const sending = 'Sending event: tag = {tag}; data = {data}'
    expect(lines).toEqual([
      ...[pub('MasterEvent'), pull('MasterEvent')],
      told('info', 'Starting pull socket on {address}', { address: pullPath }),
      told('debug', sending, { tag: 'x', data: { a: 1 } }),
      ...[pub('SaltEvent'), pull('SaltEvent')],
      told('debug', sending, { tag: 'y', data: { b: 2 } }),
    ])
  })

  test('survives a listener that throws', async () => {
    const error = vi.fn()
    const publisher = await openPublisher({
      log: { ...quietLog, error },
      onEvent: () => {
        throw new Error('bug')
      },
    })
    const stream = (await openBus()).subscribe('')
    publisher.publish('x', {})
    expect(await tagsOf(stream, 1)).toEqual(['x'])
    expect(error).toHaveBeenCalledOnce()
  })

  test('disconnects a reader that does not read, without effect on others', async () => {
    const warn = vi.fn()
    const publisher = await openPublisher({ maxBacklog: 1_000_000, log: { ...quietLog, warn } })
    const stuck = connect(sockets.pubPath)
    await once(stuck, 'connect')
    stuck.pause()
    const bus = await openBus()
    await eventually(() => expect(publisher.readers).toBe(2))
    const stream = bus.subscribe('')[Symbol.asyncIterator]()
    const data = { text: 'x'.repeat(10_000) }
    let count = 0
    for (; publisher.readers === 2 && count < 2000; count++) {
      publisher.publish(`n/${count}`, data)
      expect((await stream.next()).value?.tag).toBe(`n/${count}`)
    }
    expect(publisher.readers).toBe(1)
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('does not keep up'))
    stuck.destroy()
  })

  test('sends readers all pending events before it closes', async () => {
    const publisher = await openPublisher()
    const stream = (await openBus()).subscribe('')
    await eventually(() => expect(publisher.readers).toBe(1))
    for (let n = 0; n < 500; n++) publisher.publish(`n/${n}`, { text: 'x'.repeat(2000) })
    await publisher.close()
    expect((await tagsOf(stream, 500)).at(-1)).toBe('n/499')
  })
})
