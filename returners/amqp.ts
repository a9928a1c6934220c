/**
 * Publishes returns, jobs and events to a topic exchange of RabbitMQ, as persistent JSON messages that the broker confirms. Salt
 * has no returner of this name. `migrate` creates the exchange and a queue for all messages.
 *
 * Routing keys are `return.<jid>.<minion>`, `load.<jid>` and `event.<tag, its / as .>`. At least once: unconfirmed messages are
 * sent again, with the same `message_id`.
 */
import type { ChannelModel, ConfirmChannel, Message } from 'amqplib'
import { type Args, type EventRecord, p, type ReturnRecord, recordJson, returner } from 'salt-ts'
import { loadWithMinions } from './_jobs.ts'
import { library } from './_library.ts'
import { openOnDemand } from './_on-demand.ts'
import { duration, portNumber } from './_options.ts'
import { storeCall } from './_store-call.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

const name = p.string({ minLength: 1, maxLength: 255 })

const options = {
  host: p.default(p.string(), 'localhost'),
  /** Default: 5672, or 5671 with TLS. */
  port: p.optional(portNumber),
  user: p.default(p.string(), 'guest'),
  password: p.default(p.secret(p.string()), 'guest'),
  vhost: p.default(p.string(), '/'),
  exchange: p.default(name, 'salt'),
  queue: p.default(name, 'salt'),
  ...tlsOptions,
  timeout: p.default(duration, 5),
} as const

type Options = Args<typeof options>

interface Outgoing {
  readonly key: string
  readonly id: string
  readonly text: string
}

/** A connection with one channel, and the ids of messages that the broker returned because no queue receives them. */
interface Broker {
  readonly connection: ChannelModel
  readonly channel: ConfirmChannel
  readonly returned: Set<string>
  /** Error with which the broker closed the channel. */
  failure?: Error
}

export default returner({
  options,
  create: async ({ options }) => {
    const { exchange, queue } = options
    const { connect } = await library('amqp', 'amqplib', () => import('amqplib'))
    const tls = await tlsFacts(options)
    const port = options.port ?? (tls ? 5671 : 5672)
    const broker = openOnDemand(
      async (lost) => await opened(await connect(...address(options, port, tls)), lost),
      ({ connection }) => connection.close(),
    )
    const place = { place: `AMQP broker at ${options.host}:${port}`, timeout: options.timeout }
    const ask = async <T>(question: (broker: Broker) => Promise<T>): Promise<T> => {
      try {
        return await storeCall(place, async () => await question(await broker.get()))
      } catch (error) {
        broker.close().catch(() => undefined) // It may be broken; the next call opens another.
        throw error
      }
    }
    const send = (messages: readonly Outgoing[]) =>
      ask(async (open) => {
        await Promise.all(messages.map((message) => publish(open, exchange, message)))
      })
    return {
      idempotent: false,
      save: (ret) => send([outgoing(ret)]),
      saveBatch: (rets) => send(rets.map(outgoing)),
      saveLoad: (job) =>
        send([{ key: keyOf('load', job.jid), id: job.jid, text: recordJson(loadWithMinions(job)) }]),
      saveEvents: (events: readonly EventRecord[], batch: string) =>
        send(
          events.map((event, n) => ({
            key: keyOf('event', ...event.tag.split('/')),
            id: `${batch} ${n}`,
            text: recordJson(event),
          })),
        ),
      migrate: () =>
        ask(async ({ channel }) => {
          await channel.assertExchange(exchange, 'topic', { durable: true })
          await channel.assertQueue(queue, { durable: true })
          await channel.bindQueue(queue, exchange, '#')
          return [`The exchange ${exchange} and its queue ${queue} for all messages are ready.`]
        }),
      close: broker.close,
    }
  },
})

function address(options: Options, port: number, tls: object | undefined) {
  const { host: hostname, user: username, password, vhost, timeout } = options
  const protocol = tls ? 'amqps' : 'amqp'
  return [
    { protocol, hostname, port, username, password, vhost, heartbeat: 10 },
    { timeout: timeout * 1000, ...tls },
  ] as const
}

async function opened(connection: ChannelModel, lost: () => void): Promise<Broker> {
  connection.on('error', lost)
  connection.on('close', lost)
  const channel = await connection.createConfirmChannel()
  const broker: Broker = { connection, channel, returned: new Set() }
  channel.on('error', (error: Error) => {
    broker.failure = error
  })
  channel.on('close', lost)
  channel.on('return', ({ properties }: Message) => broker.returned.add(String(properties.messageId)))
  return broker
}

function publish(broker: Broker, exchange: string, { key, id, text }: Outgoing): Promise<void> {
  const properties = { messageId: id, mandatory: true, persistent: true, contentType: 'application/json' }
  return new Promise((resolve, reject) => {
    broker.channel.publish(exchange, key, Buffer.from(text), properties, (error: Error | null) => {
      if (error) reject(broker.failure ?? error)
      else if (broker.returned.delete(id)) reject(unroutable(exchange, key))
      else resolve()
    })
  })
}

const unroutable = (exchange: string, key: string) =>
  new Error(
    `no queue receives ${key} from the exchange ${exchange}. Create one with: salt-run returner.migrate amqp`,
  )

const outgoing = (ret: ReturnRecord): Outgoing => ({
  key: keyOf('return', ret.jid, ret.id),
  id: `${ret.jid} ${ret.id}`,
  text: recordJson(ret),
})

/** Join parts with dots, in at most 255 bytes. */
const keyOf = (...parts: readonly string[]): string => {
  const key = Buffer.from(parts.map((part) => part.replaceAll('.', '%2E')).join('.'))
  return key
    .subarray(0, 255)
    .toString()
    .replace(/\uFFFD$/, '')
}
