import { setTimeout as delay } from 'node:timers/promises'
import { deferred } from '../../base/deferred.ts'
import { BoundedQueue } from '../bounded-queue.ts'
import { ConnectionState } from '../connection-state.ts'
import type { PublishClient, SubscribeSettings } from '../contract.ts'
import type { Link, StreamProtocol } from './contract.ts'
import { makeIntroduction } from './introduction.ts'
import { unwrap } from './publication.ts'

/** Publications that wait in this process to be read; more wait at the publisher. */
const MAX_QUEUED = 10_000
const PING_MS = 1_000
/** Number of intervals without a sign of life after which a publisher that was asked for them counts as dead. */
const MAX_SILENT = 3
/** The same while the connection is being established. */
const MAX_SILENT_CONNECTING = 10

/** Subscribe over a connection, which is made again whenever it is lost. */
export async function subscribe(
  protocol: StreamProtocol,
  settings: SubscribeSettings,
): Promise<PublishClient> {
  const connection = new ConnectionState()
  const queue = new BoundedQueue<Uint8Array>(MAX_QUEUED)
  const closing = new AbortController()
  const { reconnectMs = 1_000, reconnectMaxMs = 10_000 } = settings
  let link: Link | undefined
  /** Set while the queue is full. Resolves when the queue has taken the publication that was read last. */
  let room: Promise<unknown> | undefined

  /** Connect once. Resolves with true when a connection that was up is lost, with false if none was made. */
  async function connectOnce(): Promise<boolean> {
    const lost = deferred<void>()
    let isUp = false
    /** Intervals in which nothing arrived. They are counted, since a blocked process has read nothing either. */
    let silent = 0
    let maxSilent = MAX_SILENT_CONNECTING
    const opened = protocol.connect(settings, {
      onOpen: () => void up().catch(() => opened.destroy()),
      onActivity() {
        silent = 0
      },
      onMessage({ body }) {
        const publication = unwrap(body)
        if (!room && queue.offer(publication)) return
        opened.pause()
        const waiting = Promise.resolve(room).then(() => queue.put(publication))
        room = waiting
        void waiting.then(() => {
          if (room !== waiting) return
          room = undefined
          opened.resume()
        })
      },
      onClose: () => lost.resolve(),
    })
    link = opened
    async function up(): Promise<void> {
      const isQuick = settings.heartbeat === 'quick'
      const introduction = await settings.introduction?.()
      opened.send(makeIntroduction(settings, isQuick ? PING_MS : 0, introduction))
      isUp = true
      silent = 0
      maxSilent = isQuick ? MAX_SILENT : Infinity
      connection.set('up')
    }
    const watching = setInterval(() => {
      silent = room ? 0 : silent + 1 // nothing is read while the queue is full
      if (silent > maxSilent) opened.destroy()
    }, PING_MS)
    await lost.promise
    clearInterval(watching)
    connection.set('down')
    return isUp
  }

  async function keepConnected(): Promise<void> {
    let wait = reconnectMs
    while (!closing.signal.aborted) {
      if (await connectOnce()) wait = reconnectMs
      const random = reconnectMaxMs === 0 ? reconnectMs * Math.random() : 0
      await delay(wait + random, undefined, { signal: closing.signal }).catch(() => undefined)
      wait = Math.min(2 * wait, Math.max(reconnectMaxMs, reconnectMs))
    }
  }

  void keepConnected()
  return {
    onConnection: (listener) => connection.listen(listener),
    [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
    async close() {
      closing.abort()
      queue.close()
      link?.destroy()
    },
  }
}
