import type { Cluster, Redis } from 'ioredis'
import { messageOf, SaltError } from '../../base/errors.ts'
import { importModule } from '../../process/import-module.ts'
import type { TokenStore } from './contract.ts'
import { readRecord } from './record.ts'

export interface RedisSettings {
  readonly host: string
  readonly port: number
  readonly db: number
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly tls: boolean
  /** Whether the host is a node of a cluster. */
  readonly cluster: boolean
}

/** Time limit of a command. */
const DEADLINE_MS = 5_000

const keyOf = (digest: string): string => `salt:eauth_token:${digest}`

/** Open the token store in Redis, which deletes expired tokens itself. Connects on first use, and reconnects by itself. */
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
  const { Redis, Cluster } = (await importModule('ioredis').catch(() => {
    throw new SaltError(
      'CONFIG_INVALID',
      'eauth_tokens: redis needs the library ioredis. Install it beside salt-ts: npm install ioredis',
      { key: 'eauth_tokens' },
    )
  })) as typeof import('ioredis')
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
  redis.on('error', () => {}) // each command rejects with it
  return redis
}

function away({ host, port }: RedisSettings, error: unknown): SaltError {
  return new SaltError(
    'STORE_FAILED',
    `Tokens cannot be looked up at the moment: Redis at ${host}:${port} (eauth_redis_host): ${messageOf(error)}`,
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
