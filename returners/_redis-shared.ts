/** Values that the masters of a cluster share, in Redis: `{salt_cluster:<cluster>}:values`, `:revisions` and `:last`. */
import type { Returner } from 'salt-ts'
import { pages } from './_jobs.ts'
import type { Connection } from './_redis-connection.ts'

/** Revisions are whole numbers from 1 that a Number holds. A value that somebody gave another one counts as absent. */
const IS_REVISION = `
local function is_revision(score)
  return score >= 1 and score <= 9007199254740991 and score == math.floor(score)
end`

/** KEYS: values, revisions, last; ARGV: key, value, expected revision. */
const PUT = `${IS_REVISION}
local present = tonumber(redis.call('zscore', KEYS[2], ARGV[1]) or 0)
if not is_revision(present) then present = 0 end
if present ~= tonumber(ARGV[3]) then return 0 end
local revision = redis.call('incr', KEYS[3])
redis.call('hset', KEYS[1], ARGV[1], ARGV[2])
redis.call('zadd', KEYS[2], revision, ARGV[1])
return revision`

/** KEYS: values, revisions; ARGV: key, expected revision. */
const REMOVE = `
if tonumber(redis.call('zscore', KEYS[2], ARGV[1]) or 0) ~= tonumber(ARGV[2]) then return 0 end
redis.call('zrem', KEYS[2], ARGV[1])
return redis.call('hdel', KEYS[1], ARGV[1])`

/** KEYS: values, revisions; ARGV: revision, limit. Returns key, revision, value, key, …; more than `limit` if the last have the same revision. */
const SINCE = `${IS_REVISION}
local result, count, last, offset = {}, 0, 0, 0
while true do
  local page = redis.call('zrange', KEYS[2], '(' .. ARGV[1], '+inf', 'BYSCORE', 'LIMIT', offset, ARGV[2], 'WITHSCORES')
  for i = 1, #page, 2 do
    local revision = tonumber(page[i + 1])
    if count >= tonumber(ARGV[2]) and revision > last then return result end
    if is_revision(revision) then
      result[#result + 1] = page[i]
      result[#result + 1] = page[i + 1]
      result[#result + 1] = redis.call('hget', KEYS[1], page[i]) or ''
      count, last = count + 1, revision
    end
  end
  if #page < 2 * ARGV[2] then return result end
  offset = offset + ARGV[2]
end`

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
    async removeShared(cluster, key, expected) {
      await ask((redis) => redis.eval(REMOVE, 2, ...keysOf(cluster).slice(0, 2), key, expected))
    },
  }) satisfies Partial<Returner>

const keysOf = (cluster: string) =>
  ['values', 'revisions', 'last'].map((name) => `{salt_cluster:${cluster}}:${name}`)
