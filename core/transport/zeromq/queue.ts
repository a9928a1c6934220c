import { bindLocal, localEndpoint } from './bind-local.ts'
import { SendQueue } from './send-queue.ts'
import { openPull, openPush } from './sockets.ts'

const RECONNECT_MS = 50
const RECONNECT_MAX_MS = 500
const LINGER_MS = 1_000

/** Receives messages of other processes of this machine (ZeroMQ PULL, as `publish_pull.ipc` in wire protocol §11). */
export interface QueueReceiver extends AsyncIterable<Uint8Array> {
  close(): void
}

/** Open a receiver. `address` is the path of a unix socket, or `tcp://127.0.0.1:port`. */
export async function openQueueReceiver(address: string): Promise<QueueReceiver> {
  const socket = openPull({ linger: 0 })
  await bindLocal(socket, address)
  return {
    async *[Symbol.asyncIterator]() {
      for await (const [message] of socket) if (message) yield message
    },
    close: () => socket.close(),
  }
}

/** Sends messages to the receiver. They wait in the socket while the receiver restarts. */
export interface QueueSender {
  send(message: Uint8Array): Promise<void>
  close(): void
}

export function openQueueSender(address: string): QueueSender {
  const socket = openPush({
    linger: LINGER_MS,
    reconnectInterval: RECONNECT_MS,
    reconnectMaxInterval: RECONNECT_MAX_MS,
  })
  socket.connect(localEndpoint(address))
  const queue = new SendQueue(socket)
  return { send: (message) => queue.send([message]), close: () => socket.close() }
}
