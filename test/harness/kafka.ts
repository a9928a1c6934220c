/**
 * Two brokers of a Kafka cluster in memory, as far as producers, consumers without a group and `CreateTopics` need them.
 * Topics have two partitions. Producers that are idempotent are treated as by a real broker (KIP-98).
 */
import type { TlsOptions } from 'node:tls'
import { type Answer, brokers } from './kafka-brokers.ts'
import { Partition } from './kafka-partition.ts'
import { type SignIn, signIn } from './kafka-sasl.ts'
import { array, int8, int16, int32, int64, type Reader, sized, text } from './kafka-wire.ts'

const ERRORS = {
  none: 0,
  unknownTopic: 3,
  notLeader: 6,
  tooLarge: 10,
  unsupportedMechanism: 33,
  unsupportedVersion: 35,
  topicExists: 36,
  outOfOrder: 45,
  authenticationFailed: 58,
} as const

/** Of each request the versions that are understood. Their answers are those of the highest. */
const VERSIONS = [
  [0, 3, 7], // Produce
  [1, 4, 4], // Fetch
  [2, 1, 1], // ListOffsets
  [3, 4, 4], // Metadata
  [17, 1, 1], // SaslHandshake
  [18, 0, 0], // ApiVersions
  [19, 2, 2], // CreateTopics
  [22, 1, 1], // InitProducerId
  [36, 0, 0], // SaslAuthenticate
] as const

interface Choice {
  readonly topics?: readonly string[]
  /** Who may connect, by SASL. */
  readonly users?: Readonly<Record<string, string>>
  /** With TLS. */
  readonly tls?: TlsOptions
  /** Bytes of a batch. */
  readonly largest?: number
}

/** Who is at the other end of a connection. */
interface Client {
  readonly node: number
  allowed: boolean
  signIn?: SignIn
}

export async function kafkaDouble({ topics = [], users, tls, largest = 16_000_000 }: Choice = {}) {
  const logs = new Map<string, Partition[]>()
  const make = (topic: string) => logs.set(topic, [new Partition(), new Partition()])
  topics.forEach(make)
  let leader = 0
  let lostAnswers = 0
  let lastProducer = 1000n

  const answers = new Map<number, (request: Reader, client: Client) => Buffer | undefined>([
    [18, () => Buffer.concat([int16(0), array(VERSIONS.map((api) => Buffer.concat(api.map(int16))))])],
    [3, metadata],
    [17, handshake],
    [36, authenticate],
    [19, createTopics],
    [22, () => Buffer.concat([int32(0), int16(0), int64(++lastProducer), int16(0)])],
    [0, produce],
    [2, listOffsets],
    [1, fetched],
  ])

  function metadata(request: Reader): Buffer {
    const asked = request.nullableArray(() => request.text()) ?? [...logs.keys()]
    const brokers = ports().map((port, node) => [int32(node), text('127.0.0.1'), int32(port), text(null)])
    const partition = (n: number) => [
      int16(0),
      int32(n),
      int32(leader),
      ...[0, 1].map(() => array([int32(leader)])),
    ]
    const found = asked.map((topic) => {
      const partitions = logs.get(topic)?.map((_, n) => Buffer.concat(partition(n)))
      const error = partitions ? ERRORS.none : ERRORS.unknownTopic
      return Buffer.concat([int16(error), text(topic), int8(0), array(partitions ?? [])])
    })
    const all = array(brokers.map((broker) => Buffer.concat(broker)))
    return Buffer.concat([int32(0), all, text('double'), int32(0), array(found)])
  }

  function handshake(request: Reader, client: Client): Buffer {
    client.signIn = signIn(request.text(), users)
    const error = client.signIn ? ERRORS.none : ERRORS.unsupportedMechanism
    return Buffer.concat([int16(error), array(['PLAIN', 'SCRAM-SHA-256'].map(text))])
  }

  function authenticate(request: Reader, client: Client): Buffer {
    const { answer = '', isOver, isRight } = client.signIn?.(request.bytes().toString()) ?? { isOver: true }
    client.allowed = isRight === true
    if (isOver && !isRight)
      return Buffer.concat([int16(ERRORS.authenticationFailed), text('Authentication failed'), int32(0)])
    return Buffer.concat([int16(0), text(null), sized(Buffer.from(answer))])
  }

  function createTopics(request: Reader): Buffer {
    const asked = request.array(() => {
      const topic = request.text()
      request.skip(4 + 2 + 4 + 4) // Partitions, replicas, and neither assignments nor settings.
      return topic
    })
    const told = asked.map((topic) => {
      const error = logs.has(topic) ? ERRORS.topicExists : ERRORS.none
      if (error === ERRORS.none) make(topic)
      return Buffer.concat([text(topic), int16(error), text(null)])
    })
    return Buffer.concat([int32(0), array(told)])
  }

  function produce(request: Reader, { node }: Client): Buffer | undefined {
    request.skip(2 + 2 + 4) // No transaction, acks, time-out.
    const told = request.array(() => {
      const topic = request.text()
      const partitions = request.array(() => {
        const n = request.int32()
        const [error, offset] = append(logs.get(topic)?.[n], request.bytes(), node)
        return Buffer.concat([int32(n), int16(error), int64(offset), int64(-1), int64(0)])
      })
      return Buffer.concat([text(topic), array(partitions)])
    })
    if (lostAnswers > 0) {
      lostAnswers--
      return undefined
    }
    return Buffer.concat([array(told), int32(0)])
  }

  function append(partition: Partition | undefined, batch: Buffer, node: number): readonly [number, number] {
    if (!partition) return [ERRORS.unknownTopic, -1]
    if (node !== leader) return [ERRORS.notLeader, -1]
    if (batch.length > largest) return [ERRORS.tooLarge, -1]
    const offset = partition.append(batch)
    return offset === undefined ? [ERRORS.outOfOrder, -1] : [ERRORS.none, offset]
  }

  function listOffsets(request: Reader): Buffer {
    request.skip(4)
    const told = request.array(() => {
      const topic = request.text()
      const partitions = request.array(() => {
        const n = request.int32()
        const isOldest = request.int64() === -2n
        const next = logs.get(topic)?.[n]?.next ?? 0
        return Buffer.concat([int32(n), int16(0), int64(-1), int64(isOldest ? 0 : next)])
      })
      return Buffer.concat([text(topic), array(partitions)])
    })
    return array(told)
  }

  function fetched(request: Reader): Buffer {
    request.skip(4 + 4 + 4 + 4 + 1) // Replica, longest wait, bytes, isolation.
    const told = request.array(() => {
      const topic = request.text()
      const partitions = request.array(() => {
        const n = request.int32()
        const from = Number(request.int64())
        request.skip(4)
        const partition = logs.get(topic)?.[n] ?? new Partition()
        const ends = [int64(partition.next), int64(partition.next)]
        return Buffer.concat([int32(n), int16(0), ...ends, array([]), sized(partition.batchAt(from))])
      })
      return Buffer.concat([text(topic), array(partitions)])
    })
    return Buffer.concat([int32(0), array(told)])
  }

  const connected = (node: number): Answer => {
    const client: Client = { node, allowed: users === undefined }
    return (request) => {
      const [api, version, correlation] = [request.int16(), request.int16(), request.int32()]
      request.text() // Name of the client.
      const isKnown = VERSIONS.some(([key, from, to]) => key === api && version >= from && version <= to)
      if (!isKnown) return Buffer.concat([int32(correlation), int16(ERRORS.unsupportedVersion), array([])])
      if (!client.allowed && ![17, 18, 36].includes(api)) throw new Error('not signed in')
      const told = answers.get(api)?.(request, client)
      return told && Buffer.concat([int32(correlation), told])
    }
  }

  const { ports, kill, ...running } = await brokers(2, connected, tls)
  return {
    ...running,
    kill,
    drop: kill,
    port: ports()[0] ?? 0,
    bootstrap: ports().map((port) => `127.0.0.1:${port}`),
    records: (topic: string) =>
      (logs.get(topic) ?? []).flatMap(({ records }, partition) =>
        records.map((record) => ({ ...record, partition })),
      ),
    /** Another broker leads all partitions from now on. */
    elect: () => {
      leader = 1 - leader
    },
    /** The next so many batches are kept, and their producer is not told. */
    loseAnswers: (count: number) => {
      lostAnswers = count
    },
  }
}
