import { type Msg, nuid } from '@nats-io/transport-node'
import type { PublishServer, ServerSettings } from '../contract.ts'
import { COMMON_TOPICS, subscribesToAll } from '../topics.ts'
import { flush, type Lease, messagesTo } from './connection.ts'
import { pieceHeaders, pieceSize } from './pieces.ts'
import { type Hello, type PublisherNotice, packMessage, readHello, readPublisherNotice } from './presence.ts'
import type { NatsSettings } from './settings.ts'
import { isInInbox, subjectsOf } from './subjects.ts'

/**
 * Interval of the hellos of a subscriber. It is longer with many subscribers, to limit their hellos to this number per
 * millisecond.
 */
const INTERVAL_MS = 5_000
const MAX_HELLOS_PER_MS = 1
/** A subscriber is gone when it has said no hello for this many intervals. */
const MISSED = 2.5
const CHECK_MS = 1_000
/** Maximum number of subscribers that have not proved their identity. Beyond it, the one that was added first is forgotten. */
const MAX_UNPROVED = 5_000
/** Maximum number of subscribers that have proved the same topics: anybody may repeat an introduction that it has seen. */
const MAX_OF_ONE = 4

interface Subscriber {
  topics: readonly string[]
  /** Topics that its introduction has proved. */
  proved: readonly string[]
  dropped: number
  until: number
}

/**
 * The subscribers that have sent hellos, by their random names. Unproved ones can neither displace those that have proved their
 * identity, nor fill the memory.
 */
class Subscribers {
  readonly #proved = new Map<string, Subscriber>()
  /** The ids of the subscribers that have proved the same topics, the latest last. */
  readonly #same = new Map<string, readonly string[]>()
  readonly #unproved = new Map<string, Subscriber>()

  /** The interval of their hellos, in milliseconds. */
  get intervalMs(): number {
    return Math.max(INTERVAL_MS, this.#proved.size / MAX_HELLOS_PER_MS)
  }

  get(id: string): Subscriber | undefined {
    return this.#proved.get(id) ?? this.#unproved.get(id)
  }

  add(id: string, subscriber: Subscriber): void {
    this.#unproved.set(id, subscriber)
    const [oldest] = this.#unproved.keys()
    if (this.#unproved.size > MAX_UNPROVED && oldest !== undefined) this.#unproved.delete(oldest)
  }

  /** Record that a subscriber has proved its right to these topics. */
  prove(id: string, topics: readonly string[]): void {
    const subscriber = this.get(id)
    if (!subscriber || topics.length === 0) return
    this.delete(id)
    this.#proved.set(id, subscriber)
    subscriber.proved = topics
    const same = [...this.#sameAs(topics), id]
    this.#same.set(String(topics), same)
    const [oldest] = same
    if (same.length > MAX_OF_ONE && oldest !== undefined) this.delete(oldest)
  }

  delete(id: string): void {
    const proved = this.#proved.get(id)?.proved
    const others = proved && this.#sameAs(proved).filter((each) => each !== id)
    if (others?.length) this.#same.set(String(proved), others)
    else if (proved) this.#same.delete(String(proved))
    this.#proved.delete(id)
    this.#unproved.delete(id)
  }

  #sameAs(topics: readonly string[]): readonly string[] {
    return this.#same.get(String(topics)) ?? []
  }

  expire(now: number): void {
    for (const [id, { until }] of this.entries()) if (until < now) this.delete(id)
  }

  *entries(): Generator<[string, Subscriber]> {
    yield* this.#proved
    yield* this.#unproved
  }
}

/** Publish to all subscribers. Several masters may publish at the same time. */
export async function servePublish(
  nats: NatsSettings,
  lease: Lease,
  { port, name, group, onStranger, identify }: ServerSettings,
): Promise<PublishServer> {
  const connection = await lease.awaitFirst()
  const subjects = subjectsOf(nats.prefix)
  const publisher = nuid.next()
  const subscribers = new Subscribers()
  let dropped = 0
  let published = 0

  async function introduce(id: string, introduction: Uint8Array): Promise<void> {
    subscribers.prove(id, (await identify?.(introduction)) ?? [])
  }

  function hear({ subscriber: id, topics, dropped: missed, introduction }: Hello): number {
    const known = subscribers.get(id)
    if (known && missed > known.dropped) dropped += missed - known.dropped
    if (!topics) {
      subscribers.delete(id)
      return 0
    }
    const { intervalMs } = subscribers
    const until = performance.now() + MISSED * intervalMs
    if (known) Object.assign(known, { topics, dropped: missed, until })
    else subscribers.add(id, { topics, proved: [], dropped: missed, until })
    if (introduction) void introduce(id, introduction).catch(() => undefined)
    return intervalMs
  }

  function answer(message: Msg): void {
    const hello = readHello(message.data)
    if (!hello || (message.reply && !isInInbox(message.reply, subjects))) return
    const intervalMs = hear(hello)
    message.respond(packMessage({ publisher, name, intervalMs }))
  }

  const notify = (state: 'up' | 'down') =>
    connection.publish(subjects.control, packMessage({ publisher, state, name, group }))
  const hellos = connection.subscribe(subjects.presence, messagesTo(answer))
  function meet(notice: PublisherNotice | undefined): void {
    if (notice?.state !== 'up' || notice.publisher === publisher) return
    if (group !== undefined && notice.group === group && name !== undefined && notice.name === name)
      onStranger?.(
        `Another master of the cluster ${group} has the name ${name}, too, and takes requests that are meant for this one. Give each a master_id of its own.`,
      )
    else if (group === undefined || notice.group !== group)
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
    subscribers.expire(performance.now())
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
      return [...subscribers.entries()].filter(([, subscriber]) => isCounted(subscriber)).length
    },
    get topics() {
      const topics = new Set(
        [...subscribers.entries()].flatMap(([, { topics, proved }]) => [...topics, ...proved]),
      )
      topics.delete('')
      return topics
    },
    get dropped() {
      return dropped
    },
    async close() {
      clearInterval(checking)
      if (!connection.isClosed()) {
        hellos.unsubscribe()
        notices.unsubscribe()
        notify('down')
        await flush(connection)
      }
      await lease.release()
    },
  }
}
