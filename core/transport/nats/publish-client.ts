import { type Msg, type NatsConnection, nuid, type Subscription } from '@nats-io/transport-node'
import { MAX_MESSAGE_BYTES } from '../../wire/message-size.ts'
import { BoundedQueue } from '../bounded-queue.ts'
import { ConnectionState } from '../connection-state.ts'
import type { PublishClient, SubscribeSettings } from '../contract.ts'
import { isAddressed, subscribesToAll } from '../topics.ts'
import { type Lease, messagesTo } from './connection.ts'
import { Masters } from './masters.ts'
import { Assembly, bytesOf, pieceIn, readPieceHeaders } from './pieces.ts'
import { readPublisherNotice } from './presence.ts'
import { RecentlyUsed } from './recently-used.ts'
import type { NatsSettings } from './settings.ts'
import { subjectsOf, topicOf } from './subjects.ts'

/**
 * Maximum number of publications that wait in this process to be read. Further ones are dropped, since NATS would end the
 * connection.
 */
const MAX_QUEUED = 10_000
/** Maximum number of publishers whose pieces arrive at the same time. */
const MAX_ASSEMBLIES = 16
/** Time limit for the next piece of a publication. */
const IDLE_MS = 30_000

/** Receive the publications of all masters. */
export async function subscribe(
  nats: NatsSettings,
  lease: Lease,
  settings: SubscribeSettings,
): Promise<PublishClient> {
  const subjects = subjectsOf(nats.prefix)
  const queue = new BoundedQueue<Uint8Array>(MAX_QUEUED)
  const connection = new ConnectionState()
  const pieces = new PublicationPieces()
  let subscriptions: Subscription[] = []
  let masters: Masters | undefined
  let stopListening = () => {}
  let stopNews = () => {}
  let isClosed = false

  function take(message: Msg): void {
    const topic = topicOf(message.subject, subjects)
    if (topic !== undefined && !isAddressed(topic, settings)) return
    const payload = pieces.take(message)
    if (payload && !queue.offer(payload)) masters?.dropped()
  }

  function start(open: NatsConnection): void {
    if (isClosed) return
    const wanted = subscribesToAll(settings.topics)
      ? [subjects.everyTopic]
      : settings.topics.map((topic) => subjects.publish(topic))
    subscriptions = [subjects.publish(), ...wanted].map((subject) =>
      open.subscribe(subject, messagesTo(take)),
    )
    masters = new Masters({
      connection: open,
      subjects,
      settings,
      state: connection,
      roster: lease.roster,
      name: nuid.next(),
    })
    subscriptions.push(
      open.subscribe(
        subjects.control,
        messagesTo(({ data }) => masters?.notice(readPublisherNotice(data))),
      ),
    )
    stopListening = lease.state.listen((state) => {
      if (state === 'down') masters?.lost()
      else masters?.found()
    })
  }

  void lease.ready.then(start)
  return {
    onConnection: (listener) => connection.listen(listener),
    onServer(listener) {
      stopNews()
      stopNews = lease.roster.onMore(listener)
    },
    get servers() {
      return lease.roster.names
    },
    [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
    async close() {
      if (isClosed) return
      isClosed = true
      queue.close()
      for (const subscription of subscriptions) subscription.unsubscribe()
      stopListening()
      stopNews()
      masters?.close()
      pieces.close()
      await lease.release()
    },
  }
}

/** Assembles publications that arrive in pieces. */
class PublicationPieces {
  /** By publisher: the publication that arrives now. */
  readonly #arriving = new RecentlyUsed<{ readonly number: string; readonly assembly: Assembly }>({
    maxEntries: MAX_ASSEMBLIES,
    maxBytes: 2 * MAX_MESSAGE_BYTES,
    idleMs: IDLE_MS,
  })

  /** Return a publication if this message completes it. */
  take(message: Msg): Buffer | undefined {
    const { length, piece: place } = readPieceHeaders(message.headers)
    if (length === undefined || place === undefined) return bytesOf(message)
    const [publisher = '', number = '', at = ''] = place.split(' ')
    if (at === '0') this.#arriving.add(publisher, { number, assembly: new Assembly(length) })
    const arriving = this.#arriving.use(publisher)
    if (arriving?.number !== number || String(arriving.assembly.received) !== at) return undefined
    const piece = pieceIn(message)
    const isTaken = arriving.assembly.add(piece)
    const { whole } = arriving.assembly
    if (whole || !isTaken) this.#arriving.delete(publisher)
    else this.#arriving.grow(publisher, piece.length)
    return whole
  }

  close(): void {
    this.#arriving.close()
  }
}
