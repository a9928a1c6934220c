import { BoundedQueue } from '../bounded-queue.ts'
import { ConnectionState } from '../connection-state.ts'
import type { PublishClient, PublishServer, ServerSettings, SubscribeSettings } from '../contract.ts'
import { accepts } from '../topics.ts'
import { MemoryNetwork } from './network.ts'

interface Endpoint {
  join(peer: Peer): void
  leave(peer: Peer): void
}
interface Peer {
  readonly topics: readonly string[]
  accepts(topic: string | undefined): boolean
  /** Deliver a payload; false if it was dropped because the peer's queue is full. */
  deliver(payload: Uint8Array): boolean
  disconnected(): void
}

const network = new MemoryNetwork<Endpoint>()

export async function servePublish(settings: ServerSettings): Promise<PublishServer> {
  const peers = new Set<Peer>()
  let dropped = 0
  const { port, close } = network.listen(settings.host, settings.port, {
    join: (peer) => void peers.add(peer),
    leave: (peer) => void peers.delete(peer),
  })
  return {
    port,
    get subscribers() {
      return peers.size
    },
    get topics() {
      return new Set([...peers].flatMap((peer) => peer.topics.filter((topic) => topic !== '')))
    },
    get dropped() {
      return dropped
    },
    async publish(payload, topic) {
      const copy = Buffer.from(payload)
      const delivered = [...peers].filter((peer) => peer.accepts(topic)).map((peer) => peer.deliver(copy))
      if (delivered.includes(false)) dropped++
    },
    async close() {
      close()
      for (const peer of peers) peer.disconnected()
      peers.clear()
    },
  }
}

/** Payloads that may wait for the reader, as between two ZeroMQ sockets with the default high-water marks. */
const MAX_QUEUED = 2_000

export async function subscribe(settings: SubscribeSettings): Promise<PublishClient> {
  const { host, port, topics } = settings
  const queue = new BoundedQueue<Uint8Array>(MAX_QUEUED)
  const connection = new ConnectionState()
  let publisher: Endpoint | undefined
  const peer: Peer = {
    topics,
    accepts: (topic) => accepts(settings, topic),
    deliver: (payload) => queue.offer(payload),
    disconnected() {
      publisher = undefined
      connection.set('down')
    },
  }
  const connect = () => {
    publisher ??= network.find(host, port)
    publisher?.join(peer)
    if (publisher) connection.set('up')
  }
  const stopWatching = network.watch(connect)
  connect()
  return {
    onConnection: (listener) => connection.listen(listener),
    [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
    async close() {
      stopWatching()
      publisher?.leave(peer)
      queue.close()
    },
  }
}
