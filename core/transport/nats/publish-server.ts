import { type Msg, nuid } from '@nats-io/transport-node'
import type { PublishServer, ServerSettings } from '../contract.ts'
import { COMMON_TOPICS, subscribesToAll } from '../topics.ts'
import { flush, type Lease, messagesTo } from './connection.ts'
import { pieceHeaders, pieceSize } from './pieces.ts'
import { type Hello, type PublisherNotice, packMessage, readHello, readPublisherNotice } from './presence.ts'
import type { NatsSettings } from './settings.ts'
import { subjectsOf } from './subjects.ts'

/** Subscribers say hello in this interval, and less often if they are many: so many a second at most. */
const INTERVAL_MS = 5_000
const MAX_HELLOS_PER_MS = 1
/** A subscriber is gone when it has said no hello for this many intervals. */
const MISSED = 2.5
const CHECK_MS = 1_000
/** Subscribers beyond this are not counted. */
const MAX_SUBSCRIBERS = 500_000

interface Subscriber {
  topics: readonly string[]
  /** Topics that its introduction has proved. */
  proved: readonly string[]
  dropped: number
  until: number
}

/** Publish to all who subscribe. Several masters may. */
export async function servePublish(
  nats: NatsSettings,
  lease: Lease,
  { port, name, group, onStranger, identify }: ServerSettings,
): Promise<PublishServer> {
  const connection = await lease.awaitFirst()
  const subjects = subjectsOf(nats.prefix)
  const publisher = nuid.next()
  const subscribers = new Map<string, Subscriber>()
  let dropped = 0
  let published = 0

  async function introduce(subscriber: Subscriber, introduction: Uint8Array): Promise<void> {
    subscriber.proved = (await identify?.(introduction)) ?? []
  }

  function hear({ subscriber: id, topics, dropped: missed, introduction }: Hello): number {
    const known = subscribers.get(id)
    if (known && missed > known.dropped) dropped += missed - known.dropped
    if (!topics) {
      subscribers.delete(id)
      return 0
    }
    const intervalMs = Math.max(INTERVAL_MS, subscribers.size / MAX_HELLOS_PER_MS)
    const until = performance.now() + MISSED * intervalMs
    if (known) Object.assign(known, { topics, dropped: missed, until })
    else if (subscribers.size < MAX_SUBSCRIBERS)
      subscribers.set(id, { topics, proved: [], dropped: missed, until })
    const subscriber = subscribers.get(id)
    if (introduction && subscriber) void introduce(subscriber, introduction).catch(() => undefined)
    return intervalMs
  }

  function answer(message: Msg): void {
    const hello = readHello(message.data)
    if (!hello) return
    const intervalMs = hear(hello)
    message.respond(packMessage({ publisher, name, intervalMs }))
  }

  const notify = (state: 'up' | 'down') =>
    connection.publish(subjects.control, packMessage({ publisher, state, group }))
  const hellos = connection.subscribe(subjects.presence, messagesTo(answer))
  function meet(notice: PublisherNotice | undefined): void {
    if (notice?.state !== 'up' || notice.publisher === publisher) return
    if (group === undefined || notice.group !== group)
      onStranger?.(
        `Another master uses nats.prefix '${nats.prefix}', and gets requests that are meant for this one. Give masters that serve the same minions one cluster_id, and others another prefix.`,
      )
  }
  const notices = connection.subscribe(
    subjects.control,
    messagesTo(({ data }) => meet(readPublisherNotice(data))),
  )
  notify('up')
  const checking = setInterval(() => {
    const now = performance.now()
    for (const [id, { until }] of subscribers) if (until < now) subscribers.delete(id)
  }, CHECK_MS)

  function publish(payload: Uint8Array, topic?: string): void {
    const subject = subjects.publish(topic)
    const size = pieceSize(connection)
    if (payload.length <= size) {
      connection.publish(subject, payload)
      return
    }
    const number = ++published
    for (let at = 0; at < payload.length; at += size)
      connection.publish(
        subject,
        payload.subarray(at, at + size),
        pieceHeaders({ length: payload.length, piece: `${publisher} ${number} ${at}` }),
      )
  }

  return {
    port,
    publish: async (payload, topic) => publish(payload, topic),
    get subscribers() {
      const isCounted = ({ topics }: Subscriber) =>
        subscribesToAll(topics) || COMMON_TOPICS.some((topic) => topics.includes(topic))
      return [...subscribers.values()].filter(isCounted).length
    },
    get topics() {
      const topics = new Set(
        [...subscribers.values()].flatMap(({ topics, proved }) => [...topics, ...proved]),
      )
      topics.delete('')
      return topics
    },
    get dropped() {
      return dropped
    },
    async close() {
      clearInterval(checking)
      if (connection.isClosed()) return
      hellos.unsubscribe()
      notices.unsubscribe()
      notify('down')
      await flush(connection)
      await lease.release()
    },
  }
}
