import type { Cluster, Redis } from 'ioredis'
import { messageOf, SaltError } from '../../base/errors.ts'
import type { TokenStore } from './contract.ts'
import { readRecord } from './record.ts'

export interface RedisSettings {
  readonly host: string
  readonly port: number
  readonly db: number
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly tls: boolean
  /** It is a node of a cluster. */
  readonly cluster: boolean
}

/** Milliseconds that a question may take. */
const DEADLINE_MS = 5_000

const keyOf = (digest: string): string => `salt:eauth_token:${digest}`

/** Tokens in Redis, which forgets them by itself when they expire. Connects on first need, and again by itself. */
export async function openRedisTokens(settings: RedisSettings): Promise<TokenStore> {
  const redis = await connect(settings)
  const ask = async <T>(question: (redis: Redis | Cluster) => Promise<T>): Promise<T> => {
    try {
      return await question(redis)
    } catch (error) {
      throw away(settings, error)
    }
  }
  return {
    put: (digest, record) =>
      ask(async (to) => {
        await to.set(keyOf(digest), JSON.stringify(record), 'PXAT', Math.ceil(record.expire * 1000))
      }),
    get: async (digest) => parsed(await ask((from) => from.get(keyOf(digest)))),
    remove: async (digest) => (await ask((from) => from.del(keyOf(digest)))) > 0,
    expire: async () => 0,
    close: async () => redis.disconnect(),
  }
}

async function connect({
  host,
  port,
  db,
  user,
  password,
  tls,
  cluster,
}: RedisSettings): Promise<Redis | Cluster> {
  const { Redis, Cluster } = await import('ioredis').catch(() => {
    throw new SaltError(
      'CONFIG_INVALID',
      'eauth_tokens: redis needs the library ioredis: npm install ioredis, where salt-ts was installed.',
      { key: 'eauth_tokens' },
    )
  })
  const options = {
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
    connectTimeout: DEADLINE_MS,
    commandTimeout: DEADLINE_MS,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
  }
  const redis = cluster
    ? new Cluster([{ host, port }], { redisOptions: options, lazyConnect: true })
    : new Redis({ ...options, host, port, db, lazyConnect: true })
  redis.on('error', () => {}) // whoever asks is told
  return redis
}

function away({ host, port }: RedisSettings, error: unknown): SaltError {
  return new SaltError(
    'STORE_FAILED',
    `Tokens cannot be looked up for the moment: Redis at ${host}:${port} (eauth_redis_host): ${messageOf(error)}`,
    {},
    { cause: error },
  )
}

function parsed(text: string | null) {
  if (text === null) return undefined
  try {
    return readRecord(JSON.parse(text))
  } catch {
    return undefined
  }
}
