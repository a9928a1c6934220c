/**
 * Keeps jobs, returns and events in streams of NATS JetStream, which `migrate` creates. Salt has no returner of this name.
 *
 * `SALT_JOBS` keeps the last message of each subject: `salt.return.<jid>.<minion>` and `salt.load.<jid>`. `SALT_EVENTS` has events,
 * as `salt.event.<tag, its / as .>`; JetStream drops duplicates by `Nats-Msg-Id`. Characters of ids and tags that a subject cannot
 * have are percent-encoded. All messages are JSON, but for those of `SALT_CLUSTER` (see `_nats-shared.ts`).
 */
import { readFile } from 'node:fs/promises'
import {
  DeliverPolicy,
  type JetStreamClient,
  type JsMsg,
  jetstream,
  jetstreamManager,
  type StreamConfig,
} from '@nats-io/jetstream'
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node'
import {
  type Args,
  type EventRecord,
  fromRecordJson,
  type LoadRecord,
  p,
  type Returner,
  type ReturnRecord,
  recordJson,
  returner,
  UnsavableError,
} from 'salt-ts'
import { serverIdentityCheck } from '#internal'
import { firstJobs, jobOf, keepSeconds, loadWithMinions } from './_jobs.ts'
import { natsShared, publishIf } from './_nats-shared.ts'
import { openOnDemand } from './_on-demand.ts'
import { duration } from './_options.ts'
import { type Place, storeCall } from './_store-call.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

const options = {
  servers: p.default(p.array(p.string(), { minItems: 1 }), ['127.0.0.1:4222']),
  user: p.optional(p.string()),
  password: p.optional(p.secret(p.string())),
  token: p.optional(p.secret(p.string())),
  /** Path of a `.creds` file. */
  credentials: p.optional(p.string()),
  /** Prefix of the subjects and, in capitals, of the stream names. */
  prefix: p.default(p.string({ pattern: '^[A-Za-z0-9_-]+$' }), 'salt'),
  /** Copies of the streams in a cluster. */
  replicas: p.default(p.integer({ minimum: 1, maximum: 5 }), 1),
  /** Seconds within which JetStream recognizes an event that is written again. */
  duplicate_window: p.default(p.integer({ minimum: 1 }), 3600),
  ...tlsOptions,
  timeout: p.default(duration, 5),
} as const

type Options = Args<typeof options>
type Ask = <T>(question: (connection: NatsConnection, js: JetStreamClient) => Promise<T>) => Promise<T>

export default returner({
  options,
  create: async ({ options, opts }) => {
    const tls = await tlsFacts(options)
    const connection = openOnDemand(
      (lost) => connected(options, tls, lost),
      (open) => open.close(),
    )
    const place = { place: `NATS at ${options.servers.join(', ')}`, timeout: options.timeout }
    const ask = asking(place, connection.get)
    return {
      ...writing(ask, options.prefix),
      ...reading(ask, options.prefix),
      ...natsShared(ask, options.prefix, streams(options.prefix).cluster, token),
      migrate: () => ask((open) => migrated(open, options, keepSeconds(opts))),
      close: connection.close,
    }
  },
})

async function connected(options: Options, tls: object | undefined, lost: () => void) {
  const { servers, user, password: pass, token, credentials, timeout } = options
  const connection = await connect({
    servers: [...servers],
    ...(user !== undefined && { user }),
    ...(pass !== undefined && { pass }),
    ...(token !== undefined && { token }),
    ...(credentials !== undefined && { authenticator: credsAuthenticator(await fileOf(credentials)) }),
    ...(tls && { tls: checked(tls, servers) }),
    timeout: timeout * 1000,
    maxReconnectAttempts: -1,
  })
  void connection.closed().then(lost)
  return connection
}

const fileOf = (path: string) =>
  readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`the file of credentials, ${path}, cannot be read (${error.code})`, { cause: error })
  })

const checked = (tls: object, servers: readonly string[]): object => ({
  ...tls,
  checkServerIdentity: serverIdentityCheck(servers),
})

function asking(place: Place, get: () => Promise<NatsConnection>): Ask {
  return (question) =>
    storeCall(place, async () => {
      try {
        const connection = await get()
        return await question(connection, jetstream(connection, { timeout: place.timeout * 1000 }))
      } catch (error) {
        throw explained(error)
      }
    })
}

function explained(error: unknown): unknown {
  const { name, message, cause } = error instanceof Error ? error : new Error(String(error))
  if (message.includes('max_payload'))
    return new UnsavableError('The record is larger than the server allows (max_payload).')
  if (name === 'JetStreamNotEnabled')
    return new Error(
      'no stream receives this subject. Turn JetStream on, then run: salt-run returner.migrate nats',
    )
  if (message.includes("does not support 'tls'")) return new Error('the server has no TLS')
  return cause ?? error
}

function writing(ask: Ask, prefix: string) {
  const saveBatch = (rets: readonly ReturnRecord[]) =>
    ask(async (_, js) => {
      await Promise.all(
        rets.map(async (ret) => {
          const subject = `${prefix}.return.${token(ret.jid)}.${token(ret.id)}`
          if (ret.state === undefined) await js.publish(subject, recordJson(ret))
          else await publishIf(js, subject, recordJson(ret), 0)
        }),
      )
    })
  return {
    save: (ret) => saveBatch([ret]),
    saveBatch,
    saveLoad: (job) =>
      ask(async (_, js) => {
        await js.publish(`${prefix}.load.${token(job.jid)}`, recordJson(loadWithMinions(job)))
      }),
    saveEvents: (events: readonly EventRecord[], batch: string) =>
      ask(async (_, js) => {
        const subject = (tag: string) =>
          `${prefix}.event.${tag.split('/').map(token).join('.')}`.slice(0, MAX_SUBJECT).replace(/\.+$/, '')
        await Promise.all(
          events.map((event, n) =>
            js.publish(subject(event.tag), recordJson(event), { msgID: `${batch} ${n}` }),
          ),
        )
      }),
  } satisfies Returner
}

function reading(ask: Ask, prefix: string) {
  const all = (subject: string) => ask((_, js) => messages(js, `${prefix}.${subject}`, streams(prefix).jobs))
  async function* getJids(): AsyncGenerator<LoadRecord> {
    const jobs = (await all('load.*')).map(loadOf)
    yield* jobs.sort((a, b) => (a.jid < b.jid ? 1 : -1))
  }
  return {
    getLoad: async (jid) => (await all(`load.${token(jid)}`)).map(loadOf)[0],
    getJid: async (jid) => (await all(`return.${token(jid)}.*`)).map((m) => fieldsOf(m) as ReturnRecord),
    getJids,
    getJidsFilter: (count, filterFindJob) => firstJobs(getJids(), count, filterFindJob),
    remove: (jid) =>
      ask(async (open) => {
        const manager = await jetstreamManager(open)
        for (const filter of [`${prefix}.return.${token(jid)}.*`, `${prefix}.load.${token(jid)}`])
          await manager.streams.purge(streams(prefix).jobs, { filter })
      }),
  } satisfies Partial<Returner>
}

/** Return the last message of each matching subject. */
async function messages(js: JetStreamClient, subject: string, stream: string): Promise<JsMsg[]> {
  const consumer = await js.consumers.get(stream, {
    filter_subjects: subject,
    deliver_policy: DeliverPolicy.LastPerSubject,
  })
  const found: JsMsg[] = []
  const { num_pending } = await consumer.info()
  if (num_pending === 0) return found
  const incoming = await consumer.consume({ max_messages: 500 })
  for await (const message of incoming) {
    found.push(message)
    if (message.info.pending === 0) break
  }
  await consumer.delete()
  return found
}

const streams = (prefix: string) => ({
  jobs: `${prefix.toUpperCase()}_JOBS`,
  events: `${prefix.toUpperCase()}_EVENTS`,
  cluster: `${prefix.toUpperCase()}_CLUSTER`,
})

/** Create the streams, or bring them up to date. */
async function migrated(connection: NatsConnection, options: Options, keep: number): Promise<string[]> {
  const { prefix, replicas: num_replicas, duplicate_window } = options
  const { streams: there } = await jetstreamManager(connection)
  const { jobs, events, cluster } = streams(prefix)
  const max_age = keep * 1e9
  const wanted: Partial<StreamConfig>[] = [
    { name: jobs, subjects: [`${prefix}.return.>`, `${prefix}.load.>`], max_msgs_per_subject: 1 },
    {
      name: events,
      subjects: [`${prefix}.event.>`],
      duplicate_window: Math.min(duplicate_window, keep || duplicate_window) * 1e9,
    },
    { name: cluster, subjects: [`${prefix}.cluster.>`], max_msgs_per_subject: 1, max_age: 0 },
  ]
  const did: string[] = []
  for (const stream of wanted) {
    const config = { max_age, ...stream, name: stream.name ?? '', num_replicas }
    const old = await there.info(config.name).catch(() => undefined)
    if (old) await there.update(config.name, { ...old.config, ...config })
    else await there.add(config)
    did.push(`${old ? 'Brought' : 'Created'} the stream ${config.name}${old ? ' up to date' : ''}.`)
  }
  return did
}

/** Maximum length of the subject of an event; a longer one is cut off. Servers end the connection for a line of more than 4 kB. */
const MAX_SUBJECT = 1_000

/** Encode text as one token of a subject. */
const token = (text: string) =>
  text === ''
    ? '%'
    : encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd')).replace(/[.*]/g, (sign) =>
        sign === '.' ? '%2E' : '%2A',
      )

const fieldsOf = (message: JsMsg) => fromRecordJson(message.string()) as LoadRecord['load']

function loadOf(message: JsMsg): LoadRecord {
  const [, , jid = ''] = message.subject.split('.')
  return jobOf(decodeURIComponent(jid), fieldsOf(message))
}
