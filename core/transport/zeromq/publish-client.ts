import type { Subscriber } from 'zeromq'
import { BoundedQueue } from '../bounded-queue.ts'
import { ConnectionState } from '../connection-state.ts'
import type { PublishClient, SubscribeSettings } from '../contract.ts'
import { isAddressed, subscribesToAll } from '../topics.ts'
import { connect, reconnect, watchConnection } from './connect.ts'
import { endpointOf, peerOptions } from './settings.ts'
import { openSubscriber, QUICK_HEARTBEAT } from './sockets.ts'

/** Publications that wait in this process to be read; more wait in ZeroMQ and at the publisher. */
const MAX_QUEUED = 10_000
const CONNECT_TIMEOUT_MS = 10_000

/**
 * Prefixes that select publications without topic: these are MessagePack maps of at most 15 entries, and no topic begins
 * with the first byte of such a map.
 */
const TOPICLESS = Array.from({ length: 16 }, (_, entries) => Buffer.from([0x80 | entries]))

export async function subscribe(settings: SubscribeSettings): Promise<PublishClient> {
  const socket = openSubscriber(settings.identity, {
    ...peerOptions(settings),
    linger: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectInterval: settings.reconnectMs ?? 1_000,
    reconnectMaxInterval: settings.reconnectMaxMs ?? 10_000,
    ...(settings.heartbeat === 'quick' && QUICK_HEARTBEAT),
  })
  const { topics } = settings
  socket.subscribe(...topics, ...(topics.length === 0 ? [''] : subscribesToAll(topics) ? [] : TOPICLESS))
  const connection = new ConnectionState()
  const queue = new BoundedQueue<Uint8Array>(MAX_QUEUED)
  const endpoint = endpointOf(settings)
  void watchConnection(socket, {
    up: () => connection.set('up'),
    down: () => connection.set('down'),
    abandoned: () => reconnect(socket, endpoint),
  })
  void read(socket, queue, settings)
  connect(socket, endpoint)
  return {
    onConnection: (listener) => connection.listen(listener),
    [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
    async close() {
      queue.close()
      socket.close()
    },
  }
}

/**
 * Read publications at all times: after a reconnection libzmq subscribes again only while messages are being received.
 */
async function read(
  socket: Subscriber,
  queue: BoundedQueue<Uint8Array>,
  settings: SubscribeSettings,
): Promise<void> {
  for await (const [first, second] of socket) {
    const payload =
      second === undefined || isAddressed(String(first), settings) ? (second ?? first) : undefined
    if (payload) await queue.put(payload)
  }
}
