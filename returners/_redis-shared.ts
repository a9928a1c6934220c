/** Values that the masters of a cluster share, in Redis: `{salt_cluster:<cluster>}:values`, `:revisions` and `:last`. */
import type { Returner } from 'salt-ts'
import { pages } from './_jobs.ts'
import type { Connection } from './_redis-connection.ts'

/** KEYS: values, revisions, last; ARGV: key, value, expected revision. */
const PUT = `
if tonumber(redis.call('zscore', KEYS[2], ARGV[1]) or 0) ~= tonumber(ARGV[3]) then return 0 end
local revision = redis.call('incr', KEYS[3])
redis.call('hset', KEYS[1], ARGV[1], ARGV[2])
redis.call('zadd', KEYS[2], revision, ARGV[1])
return revision`

/** KEYS: values, revisions; ARGV: revision, limit. Returns key, revision, value, key, … */
const SINCE = `
local found = redis.call('zrange', KEYS[2], '(' .. ARGV[1], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
local result = {}
for i = 1, #found, 2 do
  result[#result + 1] = found[i]
  result[#result + 1] = found[i + 1]
  result[#result + 1] = redis.call('hget', KEYS[1], found[i])
end
return result`

export const redisShared = ({ ask }: Connection) =>
  ({
    async sharedSince(cluster, revision, limit) {
      const found = (await ask((redis) =>
        redis.eval(SINCE, 2, ...keysOf(cluster).slice(0, 2), revision, limit),
      )) as string[]
      return [...pages(found, 3)].map(([key = '', at, value = '']) => ({
        key,
        value: Buffer.from(value, 'base64'),
        revision: Number(at),
      }))
    },
    async putShared(cluster, key, value, expected) {
      const text = Buffer.from(value).toString('base64')
      const revision = await ask((redis) => redis.eval(PUT, 3, ...keysOf(cluster), key, text, expected))
      return Number(revision) || undefined
    },
  }) satisfies Partial<Returner>

const keysOf = (cluster: string) =>
  ['values', 'revisions', 'last'].map((name) => `{salt_cluster:${cluster}}:${name}`)
