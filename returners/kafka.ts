/**
 * Publishes returns, jobs and events to a topic of Kafka, as JSON: what Salt's returner publishes, and more.
 *
 * The key is the job id, so that one partition has all messages of a job in order; for events without a job it is the tag. Headers
 * are `type` (`return`, `job`, `event`) and `id`, which stays the same when a message is sent again. At least once.
 */
import type { IHeaders, Kafka, KafkaConfig, Message, Producer } from 'kafkajs'
import {
  type Args,
  type EventRecord,
  type Log,
  p,
  type ReturnRecord,
  recordJson,
  returner,
  UnsavableError,
} from 'salt-ts'
import { loadWithMinions } from './_jobs.ts'
import { library } from './_library.ts'
import { openOnDemand } from './_on-demand.ts'
import { duration } from './_options.ts'
import { storeCall } from './_store-call.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

const topicName = p.string({ pattern: '^[A-Za-z0-9._-]{1,249}$' })
const count = p.integer({ minimum: 1, maximum: 32_767 })

const options = {
  bootstrap: p.default(p.array(p.string(), { minItems: 1 }), ['localhost:9092']),
  topic: p.default(topicName, 'salt'),
  /** Topic of events; default: `topic`. */
  event_topic: p.optional(topicName),
  /** Partitions of topics that `migrate` creates; default: that of the cluster. */
  partitions: p.optional(count),
  replicas: p.optional(count),
  username: p.optional(p.string()),
  password: p.optional(p.secret(p.string())),
  sasl_mechanism: p.default(p.enum('plain', 'scram-sha-256', 'scram-sha-512'), 'plain'),
  /** Let the cluster drop duplicates of a producer. Brokers before 2.8 require the permission `IdempotentWrite`. */
  idempotent: p.default(p.boolean(), true),
  ...tlsOptions,
  timeout: p.default(duration, 10),
} as const

type Options = Args<typeof options>

/** A producer, and its last request. */
interface Open {
  readonly producer: Producer
  sending: Promise<unknown>
}

/** Bytes per request. By default a cluster accepts 1 MiB for all messages of a partition in one request. */
const AT_ONCE = 1_000_000

export default returner({
  configKey: 'returner.kafka',
  options,
  create: async ({ options, log }) => {
    const { topic, event_topic = topic, bootstrap, timeout } = options
    const { Kafka, Partitioners } = await library('kafka', 'kafkajs', () => import('kafkajs'))
    const kafka = new Kafka(settings(options, await tlsFacts(options), log))
    const open = openOnDemand(async (): Promise<Open> => {
      const producer = kafka.producer({
        idempotent: options.idempotent,
        createPartitioner: Partitioners.DefaultPartitioner,
        allowAutoTopicCreation: false,
      })
      await producer.connect()
      return { producer, sending: Promise.resolve() }
    }, closed)
    const place = { place: `Kafka at ${bootstrap.join(', ')}`, timeout }
    const ask = <T>(question: () => Promise<T>): Promise<T> =>
      storeCall(place, () =>
        question().catch((error) => {
          throw explained(error)
        }),
      )
    const produce = async (to: string, messages: readonly Message[]) => {
      const current = await open.get()
      current.sending = current.producer.send({ topic: to, messages: [...messages], timeout: timeout * 1000 })
      await current.sending
    }
    let before: Promise<unknown> = Promise.resolve()
    /**
     * Send requests one after another, and with a new producer after a failure: the cluster would take a message with the sequence
     * number of one whose acknowledgement was lost for a duplicate, and drop it.
     */
    const send = (to: string, messages: readonly Message[]): Promise<void> => {
      const sent = before.then(async () => {
        try {
          for (const some of atOnce(messages)) await ask(() => produce(to, some))
        } catch (error) {
          void open.close()
          throw error
        }
      })
      before = sent.catch(() => undefined)
      return sent
    }
    return {
      idempotent: false,
      save: (ret) => send(topic, [returnMessage(ret)]),
      saveBatch: (rets) => send(topic, rets.map(returnMessage)),
      saveLoad: (job) => send(topic, [message('job', job.jid, job.jid, recordJson(loadWithMinions(job)))]),
      saveEvents: (events: readonly EventRecord[], batch: string) =>
        send(
          event_topic,
          events.map((event, n) => message('event', keyOf(event), `${batch} ${n}`, recordJson(event))),
        ),
      migrate: () => ask(() => migrated(kafka, options, [...new Set([topic, event_topic])])),
      close: open.close,
    }
  },
})

function settings(options: Options, tls: object | undefined, log: Log): KafkaConfig {
  const { bootstrap, username, password = '', sasl_mechanism: mechanism, timeout } = options
  const milliseconds = timeout * 1000
  return {
    clientId: 'salt-ts',
    brokers: [...bootstrap],
    ...(tls && { ssl: tls }),
    ...(username !== undefined && { sasl: { mechanism, username, password } as KafkaConfig['sasl'] }),
    connectionTimeout: milliseconds,
    authenticationTimeout: milliseconds,
    requestTimeout: milliseconds,
    retry: { initialRetryTime: 100, retries: 3 }, // Covers a change of a partition's leader. The outbox retries everything else.
    logCreator: () => (entry) => log.debug(`kafkajs: ${entry.log.message}`),
  }
}

/** Close the producer, and again after its last request: it may be retrying, and reconnect for that. */
async function closed({ producer, sending }: Open): Promise<void> {
  const disconnect = () => producer.disconnect()
  void sending.then(disconnect, disconnect).catch(() => undefined)
  await disconnect()
}

async function migrated(kafka: Kafka, options: Options, topics: readonly string[]): Promise<string[]> {
  const { partitions: numPartitions = -1, replicas: replicationFactor = -1, timeout } = options
  const admin = kafka.admin()
  await admin.connect()
  try {
    const did: string[] = []
    for (const topic of topics) {
      const wanted = { topic, numPartitions, replicationFactor }
      const made = await admin.createTopics({ topics: [wanted], timeout: timeout * 1000 })
      did.push(made ? `Created the topic ${topic}.` : `The topic ${topic} exists already.`)
    }
    return did
  } finally {
    await admin.disconnect()
  }
}

/** Return the innermost cause, which has the cluster's own error. */
function explained(error: Error): Error {
  const { cause, type } = error as Error & { readonly type?: string }
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE')
    return new UnsavableError(
      'The record is larger than the cluster allows (message.max.bytes of the broker, max.message.bytes of the topic).',
    )
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION')
    return new Error('the topic does not exist. Create it with: salt-run returner.migrate kafka')
  return cause instanceof Error ? explained(cause) : error
}

const message = (type: string, key: string, id: string, value: string) => ({
  key,
  value,
  headers: { type, id } satisfies IHeaders,
})

const returnMessage = (ret: ReturnRecord) =>
  message('return', ret.jid, `${ret.jid} ${ret.id}`, recordJson(ret))

const keyOf = ({ tag, data }: EventRecord) => (typeof data.jid === 'string' ? data.jid : tag)

/** Split messages into requests that the cluster accepts; a larger message gets a request by itself. */
function* atOnce(messages: readonly Message[]): Generator<readonly Message[]> {
  let page: Message[] = []
  let bytes = 0
  for (const each of messages) {
    const size = 2 * Buffer.byteLength(`${each.key}`) + Buffer.byteLength(`${each.value}`) + 100
    if (page.length > 0 && bytes + size > AT_ONCE) {
      yield page
      page = []
      bytes = 0
    }
    page.push(each)
    bytes += size
  }
  yield page
}
