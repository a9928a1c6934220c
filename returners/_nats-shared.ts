/** Values that the masters of a cluster share, in a stream of NATS JetStream that keeps the last of each subject. */
import {
  type Consumer,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  jetstreamManager,
} from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { Returner, SharedValue } from 'salt-ts'

type Ask = <T>(question: (connection: NatsConnection, js: JetStreamClient) => Promise<T>) => Promise<T>

/** `token` encodes text as one token of a subject. */
export function natsShared(ask: Ask, prefix: string, stream: string, token: (text: string) => string) {
  const subjects = (cluster: string) => `${prefix}.cluster.${token(cluster)}`
  return {
    sharedSince: (cluster, revision, limit) =>
      ask(async (connection, js) => {
        const { state } = await (await jetstreamManager(connection)).streams.info(stream)
        if (state.last_seq <= revision) return []
        const consumer = await js.consumers.get(stream, {
          filter_subjects: `${subjects(cluster)}.*`,
          deliver_policy: DeliverPolicy.StartSequence,
          opt_start_seq: revision + 1,
        })
        try {
          return await read(consumer, limit)
        } finally {
          await consumer.delete()
        }
      }),
    putShared: (cluster, key, value, expected) =>
      ask((_, js) => publishIf(js, `${subjects(cluster)}.${token(key)}`, value, expected)),
    removeShared: (cluster, key, expected) =>
      ask(async (connection) => {
        const { streams } = await jetstreamManager(connection)
        await streams.purge(stream, { filter: `${subjects(cluster)}.${token(key)}`, seq: expected + 1 })
      }),
  } satisfies Partial<Returner>
}

/** Read the values that a consumer has, at most `limit`. */
async function read(consumer: Consumer, limit: number): Promise<SharedValue[]> {
  const found: SharedValue[] = []
  const { num_pending } = await consumer.info()
  const wanted = Math.min(num_pending, limit)
  if (wanted === 0) return found
  for await (const message of await consumer.consume({ max_messages: wanted })) {
    const [, , , key = ''] = message.subject.split('.')
    found.push({ key: textOf(key), value: message.data, revision: message.seq })
    if (found.length === wanted || message.info.pending === 0) break
  }
  return found
}

/** Return the text of a token; the token itself if it is one that nobody here makes. */
function textOf(token: string): string {
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}

/** Publish a message if the last one of its subject has this number, 0 for none. Returns its own; undefined if the last one has another. */
export async function publishIf(
  js: JetStreamClient,
  subject: string,
  value: Uint8Array | string,
  lastSubjectSequence: number,
): Promise<number | undefined> {
  try {
    return (await js.publish(subject, value, { expect: { lastSubjectSequence } })).seq
  } catch (error) {
    if (isOutdated(error)) return undefined
    throw error
  }
}

const isOutdated = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence
