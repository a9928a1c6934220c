import { setTimeout } from 'node:timers/promises'
import type { MessageLike, XPublisher } from 'zeromq'
import type { PublishServer, ServerSettings } from '../contract.ts'
import { admitConnections } from './admission.ts'
import { bindTcp } from './bind.ts'
import { SendQueue } from './send-queue.ts'
import { serverOptions } from './settings.ts'
import { openXPublisher } from './sockets.ts'
import { SubscriptionCount } from './subscription-count.ts'

/** Publications still in a queue when the server closes get this long to leave the machine. Milliseconds. */
const LINGER_MS = 1_000
/** How long a publication waits for full subscribers, and how long none waits after that was in vain. Milliseconds. */
const PATIENCE_MS = 100
const IMPATIENCE_MS = 10_000
/** A connection whose peer takes nothing for so long is closed (TCP_USER_TIMEOUT). Milliseconds. */
const STALLED_MS = 60_000

/** XPUB instead of PUB: the same on the wire, but it tells who subscribes. */
export async function servePublish(settings: ServerSettings): Promise<PublishServer> {
  const socket = openXPublisher({
    ...serverOptions(settings),
    linger: LINGER_MS,
    sendHighWaterMark: settings.highWaterMark ?? 1_000,
    sendTimeout: 0,
    noDrop: true,
    verbosity: 'allSubsUnsubs',
    tcpMaxRetransmitTimeout: STALLED_MS,
  })
  const port = await bindTcp(socket, settings)
  const admission = admitConnections({ ...settings, port })
  const subscriptions = new SubscriptionCount()
  void readSubscriptions(socket, subscriptions)
  const publisher = new LossyPublisher(socket)
  const queue = new SendQueue(publisher as unknown as XPublisher)
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
 * Sends to all subscribers and tells when one of them could not take it. ZeroMQ either drops for full subscribers
 * without a word or refuses the whole message; this waits a moment first, so that a burst is lost by nobody who
 * keeps up, and then drops knowingly, so that a stuck subscriber holds up nobody else. Until it reads again libzmq leaves
 * such a subscriber out without telling, so `dropped` counts the times when somebody fell behind.
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

/** The option takes effect at once, but zeromq.js does not know that and would warn on the terminal each time. */
function setNoDrop(socket: XPublisher, value: boolean): void {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    socket.noDrop = value
  } finally {
    process.emitWarning = emitWarning
  }
}
