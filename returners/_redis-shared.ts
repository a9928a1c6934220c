/** Values that the masters of a cluster share, in Redis: `{salt_cluster:<cluster>}:values`, `:revisions` and `:last`. */
import type { Returner } from 'salt-ts'
import { pages } from './_jobs.ts'
import type { Connection } from './_redis-connection.ts'

/**
 * Revisions are whole numbers from 1 to the last one given out. A value that somebody gave another one counts as absent, and so does all
 * if somebody has put something else in the place of a key: the masters store their values again.
 */
const IS_REVISION = `
local function is_whole(number)
  return number and number >= 0 and number <= 9007199254740990 and number == math.floor(number)
end
local function has_type(key, type)
  local found = redis.call('type', key).ok
  return found == type or found == 'none'
end
local is_usable = has_type(KEYS[1], 'hash') and has_type(KEYS[2], 'zset') and has_type(KEYS[3], 'string')
local newest = is_usable and tonumber(redis.call('get', KEYS[3]) or 0)
if not is_whole(newest) then is_usable = false end
local function is_revision(score)
  return is_whole(score) and score >= 1 and score <= newest
end`

/** KEYS: values, revisions, last; ARGV: key, value, expected revision. */
const PUT = `${IS_REVISION}
if not is_usable then
  redis.call('del', KEYS[1], KEYS[2], KEYS[3])
  newest = 0
end
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

/** KEYS: values, revisions, last; ARGV: revision, limit, bytes. Returns key, revision, value, key, …; more than `limit` if the last have the same revision. */
const SINCE = `${IS_REVISION}
if not is_usable then return {} end
local result, count, last, offset = {}, 0, 0, 0
while true do
  local page = redis.call('zrange', KEYS[2], '(' .. ARGV[1], '+inf', 'BYSCORE', 'LIMIT', offset, ARGV[2], 'WITHSCORES')
  for i = 1, #page, 2 do
    local revision = tonumber(page[i + 1])
    if count >= tonumber(ARGV[2]) and revision > last then return result end
    if is_revision(revision) then
      result[#result + 1] = page[i]
      result[#result + 1] = page[i + 1]
      local fits = redis.call('hstrlen', KEYS[1], page[i]) <= tonumber(ARGV[3])
      result[#result + 1] = fits and redis.call('hget', KEYS[1], page[i]) or ''
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
        redis.eval(SINCE, 3, ...keysOf(cluster), revision, limit, MAX_TEXT),
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

/** The longest value that is given out, in base64: the masters store no longer ones. */
const MAX_TEXT = 6 * 1024 * 1024

const keysOf = (cluster: string) =>
  ['values', 'revisions', 'last'].map((name) => `{salt_cluster:${cluster}}:${name}`)
