import type { Msg, Subscription } from '@nats-io/transport-node'
import { MAX_MESSAGE_BYTES } from '../../wire/message-size.ts'
import type { IncomingRequest, RequestPort, ServerSettings } from '../contract.ts'
import { flush, type Lease, messagesTo } from './connection.ts'
import { bytesOf, readPieceHeaders } from './pieces.ts'
import type { NatsSettings } from './settings.ts'
import { isInInbox, MASTERS, subjectsOf } from './subjects.ts'
import { Transfers } from './transfers.ts'

/** Receive requests as one of the masters, which share them. */
export async function openRequestPort(
  nats: NatsSettings,
  lease: Lease,
  { port, name, maxFrameSize = MAX_MESSAGE_BYTES }: ServerSettings,
): Promise<RequestPort> {
  const connection = await lease.awaitFirst()
  const subjects = subjectsOf(nats.prefix)
  const transfers = new Transfers(connection, subjects)
  let subscriptions: Subscription[] = []

  function readRequest(message: Msg, take: (payload: Buffer, message: Msg) => void): void {
    const { length = message.data.length } = readPieceHeaders(message.headers)
    if (length > maxFrameSize || !isInInbox(message.reply, subjects)) return
    if (length > message.data.length) transfers.receive(message, length, take)
    else take(bytesOf(message), message)
  }

  return {
    port,
    receive(take) {
      const takeRequest = (payload: Buffer, message: Msg) =>
        void take({
          payload,
          client: clientOf(message),
          reply: (answer) => transfers.answer(message, answer),
        })
      const options = messagesTo((message) => readRequest(message, takeRequest))
      subscriptions = [connection.subscribe(subjects.requests, { queue: MASTERS, ...options })]
      if (name !== undefined) subscriptions.push(connection.subscribe(subjects.requestsTo(name), options))
    },
    async close() {
      for (const subscription of subscriptions) subscription.unsubscribe()
      await flush(connection)
      transfers.close()
      await lease.release()
    },
  }
}

/** Return what the subjects of a client's answers have in common. */
const clientOf = ({ reply = '' }: Msg): IncomingRequest['client'] => reply.slice(0, reply.lastIndexOf('.'))
