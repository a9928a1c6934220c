import { setTimeout } from 'node:timers/promises'
import type { MessageLike, XPublisher } from 'zeromq'
import { admitConnections } from '../admission.ts'
import type { PublishServer, ServerSettings } from '../contract.ts'
import { bindTcp } from './bind.ts'
import { SendQueue } from './send-queue.ts'
import { serverOptions } from './settings.ts'
import { openXPublisher } from './sockets.ts'
import { SubscriptionCount } from './subscription-count.ts'
import { HandshakeGate } from './zap.ts'

/** How long queued publications are still sent after the server is closed. */
const LINGER_MS = 1_000
/** How long a publication waits for subscribers with full queues. */
const PATIENCE_MS = 100
/** Time in which further publications do not wait, after one has waited without success. */
const IMPATIENCE_MS = 10_000
/** How long a peer may acknowledge nothing before its connection is closed (TCP_USER_TIMEOUT). */
const STALLED_MS = 60_000

/**
 * Maximum size of a message of a subscriber: a topic, or its part of the handshake. libzmq needs a hundred times the length of a topic,
 * before the subscriber has proved who it is.
 */
const MAX_SUBSCRIPTION_BYTES = 1_024

/** Open a publisher. It is an XPUB socket, which is the same as PUB for subscribers, but reports their subscriptions. */
export async function servePublish(settings: ServerSettings): Promise<PublishServer> {
  const socket = openXPublisher({
    ...serverOptions(settings),
    maxMessageSize: MAX_SUBSCRIPTION_BYTES,
    linger: LINGER_MS,
    sendHighWaterMark: settings.highWaterMark ?? 1_000,
    sendTimeout: 0,
    noDrop: true,
    verbosity: 'allSubsUnsubs',
    tcpMaxRetransmitTimeout: STALLED_MS,
  })
  const port = await bindTcp(socket, settings)
  const admission = admitConnections({ ...settings, port }, () => new HandshakeGate())
  const subscriptions = new SubscriptionCount()
  void readSubscriptions(socket, subscriptions)
  const publisher = new LossyPublisher(socket)
  const queue = new SendQueue(publisher)
  return {
    port,
    publish: (payload, topic) => queue.send(topic === undefined ? [payload] : [topic, payload]),
    get subscribers() {
      return subscriptions.subscribers
    },
    get topics() {
      return subscriptions.topics
    },
    get dropped() {
      return publisher.dropped
    },
    async close() {
      admission.close()
      socket.close()
    },
  }
}

async function readSubscriptions(socket: XPublisher, subscriptions: SubscriptionCount): Promise<void> {
  for await (const [frame] of socket) if (frame) subscriptions.read(frame)
}

/**
 * Sends to all subscribers, and detects when the queue of one is full. For such a subscriber ZeroMQ either drops messages
 * silently or refuses them for all. This waits a moment first, so that subscribers that keep up lose nothing in a burst, and
 * then drops the message for the full ones, so that a stuck subscriber does not delay others. libzmq then skips it silently
 * until it reads again, so `dropped` counts the times when a subscriber fell behind.
 */
class LossyPublisher {
  readonly #socket: XPublisher
  #impatientUntil = 0
  dropped = 0

  constructor(socket: XPublisher) {
    this.#socket = socket
  }

  async send(frames: MessageLike[]): Promise<void> {
    const started = performance.now()
    const patience = started < this.#impatientUntil ? 0 : PATIENCE_MS
    while (!(await this.#trySend(frames))) {
      if (performance.now() - started >= patience) return this.#sendToTheOthers(frames)
      await setTimeout(1)
    }
  }

  async #trySend(frames: MessageLike[]): Promise<boolean> {
    try {
      await this.#socket.send(frames)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false
      throw error
    }
  }

  async #sendToTheOthers(frames: MessageLike[]): Promise<void> {
    this.#impatientUntil = performance.now() + IMPATIENCE_MS
    this.dropped++
    setNoDrop(this.#socket, false)
    try {
      await this.#socket.send(frames)
    } finally {
      if (!this.#socket.closed) setNoDrop(this.#socket, true)
    }
  }
}

/**
 * Set `noDrop`. The option takes effect at once, but zeromq.js assumes otherwise, and would print a warning each time.
 */
function setNoDrop(socket: XPublisher, value: boolean): void {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    socket.noDrop = value
  } finally {
    process.emitWarning = emitWarning
  }
}
