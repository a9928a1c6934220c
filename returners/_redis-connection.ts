/** Connections to Redis: to one server, by TCP, TLS or a Unix socket, or to a cluster. */
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
  /** No effect. Python's client makes this check with a command that some providers refuse; ioredis does not make it. */
  'cluster.skip_full_coverage_check': p.default(p.boolean(), false),
  ...tlsOptions,
  timeout: p.default(duration, 5),
} as const

type ConnectionOptions = Args<typeof connectionOptions>

export interface Connection {
  /** Commands issued in one turn of the event loop are sent together, to the nodes that have the keys. */
  ask<T>(question: (redis: Redis | Cluster) => Promise<T>): Promise<T>
  /** Return the matching keys of all nodes, unordered. */
  keys(pattern: string): Promise<string[]>
  close(): void
}

/** Connect on demand. The client reconnects by itself. */
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
      await ask((any) => any.ping()) // The first reply makes the nodes of a cluster known.
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

/** Return a function for the last error of a connection that is still down. */
function lastErrorOf(redis: Redis | Cluster): () => Error | undefined {
  let last: Error | undefined
  redis.on('error', (error: Error) => {
    last = error
  })
  redis.on('close', () => {
    last ??= new Error('the connection to the server was lost')
  })
  redis.on('ready', () => {
    last = undefined
  })
  return () => last
}

/** Replace the error of a command that was aborted with the connection by the connection's error. */
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
