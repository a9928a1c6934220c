import { type Msg, type NatsConnection, nuid, type Subscription } from '@nats-io/transport-node'
import { BoundedQueue } from '../bounded-queue.ts'
import { ConnectionState } from '../connection-state.ts'
import type { PublishClient, SubscribeSettings } from '../contract.ts'
import { isAddressed, subscribesToAll } from '../topics.ts'
import { type Lease, messagesTo } from './connection.ts'
import { Masters } from './masters.ts'
import { Assembly, bytesOf, readPieceHeaders } from './pieces.ts'
import { readPublisherNotice } from './presence.ts'
import type { NatsSettings } from './settings.ts'
import { subjectsOf, topicOf } from './subjects.ts'

/** Publications that wait in this process to be read, at most. Further ones are dropped, since NATS would end the connection. */
const MAX_QUEUED = 10_000
/** Publishers from which pieces arrive at once, at most. */
const MAX_ASSEMBLIES = 16

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
      await lease.release()
    },
  }
}

/** Puts publications together that came in pieces. */
class PublicationPieces {
  /** By publisher: the publication that arrives now. */
  readonly #arriving = new Map<string, { readonly number: string; readonly assembly: Assembly }>()

  /** Return a publication if this message completes it. */
  take(message: Msg): Buffer | undefined {
    const { length, piece } = readPieceHeaders(message.headers)
    if (length === undefined || piece === undefined) return bytesOf(message)
    const [publisher = '', number = '', at = ''] = piece.split(' ')
    if (at === '0') this.#begin(publisher, number, length)
    const arriving = this.#arriving.get(publisher)
    if (arriving?.number !== number || String(arriving.assembly.received) !== at) return undefined
    const isTaken = arriving.assembly.add(bytesOf(message))
    const { whole } = arriving.assembly
    if (whole || !isTaken) this.#arriving.delete(publisher)
    return whole
  }

  #begin(publisher: string, number: string, length: number): void {
    this.#arriving.delete(publisher)
    if (this.#arriving.size >= MAX_ASSEMBLIES) this.#arriving.delete(this.#arriving.keys().next().value ?? '')
    this.#arriving.set(publisher, { number, assembly: new Assembly(length) })
  }
}
