/**
 * Publishes returns, jobs and events over MQTT, as JSON: `salt/return/<jid>/<minion>`, `salt/load/<jid>`,
 * `salt/event/<tag>`. Salt has no returner of this name. At least once (QoS 1): unacknowledged messages are sent again. Characters
 * of ids and tags that a topic cannot have are percent-encoded.
 */
import type { IConnackPacket, MqttClient } from 'mqtt'
import {
  type Args,
  type EventRecord,
  p,
  type ReturnRecord,
  recordJson,
  returner,
  UnsavableError,
} from 'salt-ts'
import { loadWithMinions, pages } from './_jobs.ts'
import { library } from './_library.ts'
import { openOnDemand } from './_on-demand.ts'
import { duration, portNumber } from './_options.ts'
import { storeCall } from './_store-call.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

const options = {
  host: p.default(p.string(), 'localhost'),
  /** Default: 1883, or 8883 with TLS. */
  port: p.optional(portNumber),
  user: p.optional(p.string()),
  password: p.optional(p.secret(p.string())),
  /** 4 (MQTT 3.1.1) or 5. Only in 5 does a broker report that it refuses a message. */
  protocol_version: p.default(p.integer({ minimum: 4, maximum: 5 }), 5),
  prefix: p.default(p.string({ pattern: '^[^+#]+$' }), 'salt'),
  /** Ask the broker to keep the last message of each topic for later subscribers. */
  retain: p.default(p.boolean(), false),
  ...tlsOptions,
  timeout: p.default(duration, 5),
} as const

type Options = Args<typeof options>

interface Message {
  readonly topic: string
  readonly text: string
}

/** A connection, and the limits of the broker. */
interface Broker {
  readonly client: MqttClient
  /** Maximum number of unacknowledged messages. */
  readonly atOnce: number
  /** Largest packet in bytes. */
  readonly largest: number
}

export default returner({
  options,
  create: async ({ options }) => {
    const { prefix, timeout } = options
    const mqtt = await library('mqtt', 'mqtt', () => import('mqtt'))
    const tls = await tlsFacts(options)
    const port = options.port ?? (tls ? 8883 : 1883)
    const broker = openOnDemand(
      (lost) => connected(mqtt.connect(settings(options, port, tls)), lost),
      ({ client }) => client.endAsync(true),
    )
    const place = { place: `MQTT broker at ${options.host}:${port}`, timeout }
    let before: Promise<unknown> = Promise.resolve()
    /** Send batches one after another: together they could exceed the broker's limit. */
    const send = (messages: readonly Message[]): Promise<void> => {
      const sent = before.then(async () => {
        try {
          await storeCall(place, async () => await publish(await broker.get(), messages, options.retain))
        } catch (error) {
          if (!(error instanceof UnsavableError)) void broker.close()
          throw error
        }
      })
      before = sent.catch(() => undefined)
      return sent
    }
    const messageOf = (ret: ReturnRecord) => ({
      topic: `${prefix}/return/${level(ret.jid)}/${level(ret.id)}`,
      text: recordJson(ret),
    })
    return {
      idempotent: false,
      save: (ret) => send([messageOf(ret)]),
      saveBatch: (rets) => send(rets.map(messageOf)),
      saveLoad: (job) =>
        send([{ topic: `${prefix}/load/${level(job.jid)}`, text: recordJson(loadWithMinions(job)) }]),
      saveEvents: (events: readonly EventRecord[]) =>
        send(
          events.map((event) => ({ topic: `${prefix}/event/${levels(event.tag)}`, text: recordJson(event) })),
        ),
      close: broker.close,
    }
  },
})

function settings(options: Options, port: number, tls: object | undefined) {
  const { host, user, password, timeout } = options
  return {
    host,
    port,
    protocol: tls ? ('mqtts' as const) : ('mqtt' as const),
    protocolVersion: options.protocol_version === 4 ? (4 as const) : (5 as const),
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password }),
    ...tls,
    connectTimeout: timeout * 1000,
    reconnectPeriod: 0, // The next call opens another connection.
  }
}

function connected(client: MqttClient, lost: () => void): Promise<Broker> {
  return new Promise((resolve, reject) => {
    let failure = new Error('the connection was closed')
    client.on('error', (error) => {
      failure = error
    })
    client.on('close', () => {
      lost()
      reject(failure)
      client.end(true)
    })
    client.on('connect', ({ properties }: IConnackPacket) =>
      resolve({
        client,
        atOnce: properties?.receiveMaximum ?? 65_535,
        largest: properties?.maximumPacketSize ?? Number.POSITIVE_INFINITY,
      }),
    )
  })
}

async function publish({ client, atOnce, largest }: Broker, messages: readonly Message[], retain: boolean) {
  for (const { topic, text } of messages)
    if (Buffer.byteLength(topic) + Buffer.byteLength(text) + HEADER > largest)
      throw new UnsavableError(`${topic} is larger than the broker allows (${largest} bytes).`)
  for (const some of pages(messages, atOnce))
    await Promise.all(some.map(({ topic, text }) => client.publishAsync(topic, text, { qos: 1, retain })))
}

/** Maximum number of bytes of a packet besides its topic and text. */
const HEADER = 16

/** Encode text for a topic; `/` stays a separator. Brokers end the connection for characters that MQTT forbids, or advises against. */
const levels = (text: string) => text.replace(/[%+#\p{Cc}\p{Noncharacter_Code_Point}]/gu, encodeURIComponent)

const level = (text: string) => levels(text).replaceAll('/', '%2F')
