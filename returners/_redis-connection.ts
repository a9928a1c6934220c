/** Connections to Redis: one server, by TCP, TLS or a unix socket, or a cluster. */
import type { Cluster, Redis, RedisOptions } from 'ioredis'
import { type Args, p } from 'salt-ts'
import { library } from './_library.ts'
import { duration, portNumber } from './_options.ts'
import { type Place, storeCall } from './_store-call.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

const port = p.default(portNumber, 6379)

export const connectionOptions = {
  host: p.default(p.string(), 'salt'),
  port,
  unix_socket_path: p.optional(p.string()),
  db: p.default(p.integer({ minimum: 0 }), 0),
  user: p.optional(p.string()),
  password: p.optional(p.secret(p.string())),
  cluster_mode: p.default(p.boolean(), false),
  'cluster.startup_nodes': p.default(p.array(p.object({ host: p.string(), port })), []),
  /** Python's client checks this with a command some providers refuse; ours does not. */
  'cluster.skip_full_coverage_check': p.default(p.boolean(), false),
  ...tlsOptions,
  timeout: p.default(duration, 5),
} as const

type ConnectionOptions = Args<typeof connectionOptions>

export interface Connection {
  /** What is asked for in one turn of the event loop goes out together, to whichever node has the keys. */
  ask<T>(question: (redis: Redis | Cluster) => Promise<T>): Promise<T>
  /** Keys that match, of all nodes, unordered. */
  keys(pattern: string): Promise<string[]>
  close(): void
}

/** Connects on first need, and again by itself. */
export async function connectRedis(options: ConnectionOptions): Promise<Connection> {
  const { Redis, Cluster } = await library('redis', 'ioredis', () => import('ioredis'))
  const settings = await redisSettings(options)
  const nodes = options['cluster.startup_nodes']
  if (options.cluster_mode && nodes.length === 0)
    throw new Error('redis.cluster_mode needs redis.cluster.startup_nodes, a list of host and port')
  const redis = options.cluster_mode
    ? new Cluster(nodes, { redisOptions: settings, enableAutoPipelining: true, lazyConnect: true })
    : new Redis({ ...settings, enableAutoPipelining: true, lazyConnect: true })
  const place = { place: placeOf(options), timeout: options.timeout, why: lastErrorOf(redis) }
  const ask: Connection['ask'] = (question) => storeCall(place, () => question(redis).catch(explain(place)))
  const masters = () => (redis instanceof Cluster ? redis.nodes('master') : [redis])
  return {
    ask,
    keys: async (pattern) => {
      await ask((any) => any.ping()) // The nodes of a cluster are known with the first answer.
      const found = await Promise.all(masters().map((node) => scan(node, pattern, ask)))
      return [...new Set(found.flat())]
    },
    close: () => redis.disconnect(),
  }
}

async function redisSettings(options: ConnectionOptions): Promise<RedisOptions> {
  const { host, port, unix_socket_path: path, db, user, password, timeout } = options
  const tls = await tlsFacts(options)
  return {
    ...(path === undefined ? { host, port } : { path }),
    ...(options.cluster_mode ? {} : { db }),
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password }),
    ...(tls && { tls }),
    connectTimeout: timeout * 1000,
    socketTimeout: timeout * 1000,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
  }
}

function placeOf(options: ConnectionOptions): string {
  const { host, port, unix_socket_path: path } = options
  if (options.cluster_mode)
    return `The Redis cluster at ${options['cluster.startup_nodes'].map((node) => `${node.host}:${node.port}`).join(', ')}`
  return `Redis at ${path ?? `${host}:${port}`}`
}

/** What last went wrong with a connection that is not made again since. */
function lastErrorOf(redis: Redis | Cluster): () => Error | undefined {
  let last: Error | undefined
  redis.on('error', (error: Error) => {
    last = error
  })
  redis.on('close', () => {
    last ??= new Error('the connection is lost')
  })
  redis.on('ready', () => {
    last = undefined
  })
  return () => last
}

/** A command that was given up because of the connection fails with what is wrong with that. */
const explain =
  ({ why }: Place) =>
  (error: Error): never => {
    throw error.name === 'ReplyError' ? error : (why?.() ?? error)
  }

async function scan(node: Redis, pattern: string, ask: Connection['ask']): Promise<string[]> {
  const found: string[] = []
  for (let cursor = '0'; ; ) {
    const [next, keys] = await ask(() => node.scan(cursor, 'MATCH', pattern, 'COUNT', 1000))
    found.push(...keys)
    if (next === '0') return found
    cursor = next
  }
}
