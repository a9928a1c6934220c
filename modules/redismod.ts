/**
 * Query and change Redis servers.
 *
 * The server is that of the settings `redis.host` (by default `salt`), `redis.port`, `redis.db` and `redis.password`, unless a
 * call names another.
 */
import { CommandExecutionError, type Context, fn, p, SaltInvocationError } from 'salt-ts'
import {
  connection,
  type Place,
  pairs,
  passwordParam,
  type Reply,
  serverParams,
  withRedis,
} from './_database/redis.ts'
import { parseInfo } from './_database/redis-info.ts'

/** The name under which users call it; the file has Salt's. */
export const virtualName = 'redis'

const key = p.string()
const field = p.string()
const value = p.string()
const fields = p.rest(p.string())
const index = p.integer()
const pattern = p.default(p.string(), '*')

/**
 * Start to rewrite the append-only file in the background, and return true.
 *
 * @example salt '*' redis.bgrewriteaof
 */
export const bgrewriteaof = fn(
  { ...connection },
  async (place, context) => (await send(place, context, 'BGREWRITEAOF')) !== null,
)

/**
 * Start to save the data to disk in the background, and return true.
 *
 * @example salt '*' redis.bgsave
 */
export const bgsave = fn(
  { ...connection },
  async (place, context) => (await send(place, context, 'BGSAVE')) !== null,
)

/**
 * Return the settings of the server whose names match a glob.
 *
 * @example salt '*' redis.config_get
 * @example salt '*' redis.config_get port
 */
export const config_get = fn({ pattern, ...connection }, async ({ pattern, ...place }, context) =>
  pairs(await send(place, context, 'CONFIG', 'GET', pattern)),
)

/**
 * Change a setting of the server, and return true.
 *
 * @example salt '*' redis.config_set maxmemory 100mb
 */
export const config_set = fn(
  { name: p.string(), value, ...connection },
  async ({ name, value, ...place }, context) =>
    isOk(await send(place, context, 'CONFIG', 'SET', name, value)),
)

/**
 * Return the number of keys in the database.
 *
 * @example salt '*' redis.dbsize
 */
export const dbsize = fn({ ...connection }, (place, context) => send(place, context, 'DBSIZE'))

/**
 * Delete keys, and return how many there were.
 *
 * @example salt '*' redis.delete foo
 */
const deleteKeys = fn({ keys: fields, ...connection }, ({ keys, ...place }, context) => {
  if (keys.length === 0) throw new SaltInvocationError('redis.delete needs at least one key.')
  return send(place, context, 'DEL', ...keys)
})

/** `delete` is a reserved word of JavaScript. */
export { deleteKeys as delete }

/**
 * Return 1 if a key exists, else 0.
 *
 * @example salt '*' redis.exists foo
 */
export const exists = fn({ key, ...connection }, ({ key, ...place }, context) =>
  send(place, context, 'EXISTS', key),
)

/**
 * Let a key expire in so many seconds. False if it does not exist.
 *
 * @example salt '*' redis.expire foo 300
 */
export const expire = fn(
  { key, seconds: p.integer(), ...connection },
  async ({ key, seconds, ...place }, context) => (await send(place, context, 'EXPIRE', key, seconds)) === 1,
)

/**
 * Let a key expire at a time, in seconds since 1970. False if it does not exist.
 *
 * @example salt '*' redis.expireat foo 1900000000
 */
export const expireat = fn(
  { key, timestamp: p.integer(), ...connection },
  async ({ key, timestamp, ...place }, context) =>
    (await send(place, context, 'EXPIREAT', key, timestamp)) === 1,
)

/**
 * Remove all keys of all databases, and return true.
 *
 * @example salt '*' redis.flushall
 */
export const flushall = fn({ ...connection }, async (place, context) =>
  isOk(await send(place, context, 'FLUSHALL')),
)

/**
 * Remove all keys of the database, and return true.
 *
 * @example salt '*' redis.flushdb
 */
export const flushdb = fn({ ...connection }, async (place, context) =>
  isOk(await send(place, context, 'FLUSHDB')),
)

/**
 * Return the value of a key.
 *
 * @example salt '*' redis.get_key foo
 */
export const get_key = fn({ key, ...connection }, ({ key, ...place }, context) =>
  send(place, context, 'GET', key),
)

/**
 * Delete fields of a hash, and return how many there were.
 *
 * @example salt '*' redis.hdel foo_hash bar_field1 bar_field2
 */
export const hdel = fn({ key, fields, ...connection }, ({ key, fields, ...place }, context) =>
  send(place, context, 'HDEL', key, ...fields),
)

/**
 * True if a hash has a field.
 *
 * @example salt '*' redis.hexists foo_hash bar_field
 */
export const hexists = fn(
  { key, field, ...connection },
  async ({ key, field, ...place }, context) => (await send(place, context, 'HEXISTS', key, field)) === 1,
)

/**
 * Return the value of a field of a hash.
 *
 * @example salt '*' redis.hget foo_hash bar_field
 */
export const hget = fn({ key, field, ...connection }, ({ key, field, ...place }, context) =>
  send(place, context, 'HGET', key, field),
)

/**
 * Return all fields of a hash with their values.
 *
 * @example salt '*' redis.hgetall foo_hash
 */
export const hgetall = fn({ key, ...connection }, async ({ key, ...place }, context) =>
  pairs(await send(place, context, 'HGETALL', key)),
)

/**
 * Add a whole number to a field of a hash, and return the sum.
 *
 * @example salt '*' redis.hincrby foo_hash bar_field 5
 */
export const hincrby = fn(
  { key, field, increment: p.default(p.integer(), 1), ...connection },
  ({ key, field, increment, ...place }, context) => send(place, context, 'HINCRBY', key, field, increment),
)

/**
 * Add a number to a field of a hash, and return the sum.
 *
 * @example salt '*' redis.hincrbyfloat foo_hash bar_field 5.17
 */
export const hincrbyfloat = fn(
  { key, field, increment: p.default(p.number(), 1.0), ...connection },
  async ({ key, field, increment, ...place }, context) =>
    new Number(await send(place, context, 'HINCRBYFLOAT', key, field, increment)),
)

/**
 * Return the number of fields of a hash.
 *
 * @example salt '*' redis.hlen foo_hash
 */
export const hlen = fn({ key, ...connection }, ({ key, ...place }, context) =>
  send(place, context, 'HLEN', key),
)

/**
 * Return the values of fields of a hash, null for one that it lacks.
 *
 * @example salt '*' redis.hmget foo_hash bar_field1 bar_field2
 */
export const hmget = fn({ key, fields, ...connection }, ({ key, fields, ...place }, context) =>
  send(place, context, 'HMGET', key, ...fields),
)

/**
 * Set fields of a hash, and return true.
 *
 * @example salt '*' redis.hmset foo_hash bar_field1=bar_value1 bar_field2=bar_value2
 */
export const hmset = fn(
  { key, ...connection, fieldsvals: p.keywords(p.string()) },
  async ({ key, fieldsvals, ...place }, context) => {
    const words = Object.entries(fieldsvals).flat()
    if (words.length === 0) throw new SaltInvocationError('redis.hmset needs at least one field=value.')
    return isOk(await send(place, context, 'HMSET', key, ...words))
  },
)

/**
 * Set a field of a hash. Returns 1 if it is new, else 0.
 *
 * @example salt '*' redis.hset foo_hash bar_field bar_value
 */
export const hset = fn({ key, field, value, ...connection }, ({ key, field, value, ...place }, context) =>
  send(place, context, 'HSET', key, field, value),
)

/**
 * Set a field of a hash unless it has it. Returns 1 if it was set, else 0.
 *
 * @example salt '*' redis.hsetnx foo_hash bar_field bar_value
 */
export const hsetnx = fn({ key, field, value, ...connection }, ({ key, field, value, ...place }, context) =>
  send(place, context, 'HSETNX', key, field, value),
)

/**
 * Return the values of a hash.
 *
 * @example salt '*' redis.hvals foo_hash
 */
export const hvals = fn({ key, ...connection }, ({ key, ...place }, context) =>
  send(place, context, 'HVALS', key),
)

/**
 * Return some fields of a hash with their values, after the cursor of the next call, which is 0 when all have been returned.
 *
 * @example salt '*' redis.hscan foo_hash match='field_prefix_*' count=1
 */
export const hscan = fn(
  {
    key,
    cursor: p.default(p.integer({ minimum: 0 }), 0),
    match: p.optional(p.string()),
    count: p.optional(p.integer({ minimum: 1 })),
    ...connection,
  },
  async ({ key, cursor, match, count, ...place }, context) => {
    const limits = [...(match === undefined ? [] : ['MATCH', match]), ...(count ? ['COUNT', count] : [])]
    const reply = await send(place, context, 'HSCAN', key, cursor, ...limits)
    const [next, found] = reply as [Reply, Reply]
    return [Number(next), pairs(found)]
  },
)

/**
 * Return facts and statistics about the server.
 *
 * @example salt '*' redis.info
 */
export const info = fn({ ...connection }, async (place, context) =>
  parseInfo(String(await send(place, context, 'INFO'))),
)

/**
 * List the keys that match a glob.
 *
 * @example salt '*' redis.keys
 * @example salt '*' redis.keys 'test*'
 */
export const keys = fn({ pattern, ...connection }, ({ pattern, ...place }, context) =>
  send(place, context, 'KEYS', pattern),
)

/**
 * Return the type of a key: string, list, set, zset, hash, stream or none.
 *
 * @example salt '*' redis.key_type foo
 */
export const key_type = fn({ key, ...connection }, ({ key, ...place }, context) =>
  send(place, context, 'TYPE', key),
)

/**
 * Return the time of the last save to disk, in seconds since 1970.
 *
 * @example salt '*' redis.lastsave
 */
export const lastsave = fn({ ...connection }, (place, context) => send(place, context, 'LASTSAVE'))

/**
 * Return the length of a list.
 *
 * @example salt '*' redis.llen foo_list
 */
export const llen = fn({ key, ...connection }, ({ key, ...place }, context) =>
  send(place, context, 'LLEN', key),
)

/**
 * Return the elements of a list from one index to another.
 *
 * @example salt '*' redis.lrange foo_list 0 10
 */
export const lrange = fn(
  { key, start: index, stop: index, ...connection },
  ({ key, start, stop, ...place }, context) => send(place, context, 'LRANGE', key, start, stop),
)

/**
 * True if the server answers, false if it does not or refuses the connection.
 *
 * @example salt '*' redis.ping
 */
export const ping = fn(connection, (place, context) => answers(place, context))

/**
 * Save the data to disk, and return true when it is done.
 *
 * @example salt '*' redis.save
 */
export const save = fn({ ...connection }, async (place, context) => isOk(await send(place, context, 'SAVE')))

/**
 * Set the value of a key, and return true.
 *
 * @example salt '*' redis.set_key foo bar
 */
export const set_key = fn({ key, value, ...connection }, async ({ key, value, ...place }, context) =>
  isOk(await send(place, context, 'SET', key, value)),
)

/**
 * Save the data to disk and stop the server. False if it was not there, or still is.
 *
 * @example salt '*' redis.shutdown
 */
export const shutdown = fn(connection, async (place, context) => {
  if (!(await answers(place, context))) return false
  // The server ends without an answer, unless it refuses.
  const refusal = await send(place, context, 'SHUTDOWN').catch((error: Error) => error.message)
  if (await answers(place, context)) context.log.error(`The Redis server was not shut down: ${refusal}`)
  else return true
  return false
})

/**
 * Make the server a replica of another, or without one a master, and return true.
 *
 * @example salt '*' redis.slaveof redis-n01.example.com 6379
 * @example salt '*' redis.slaveof redis-n01.example.com
 * @example salt '*' redis.slaveof
 */
export const slaveof = fn(
  {
    master_host: p.optional(p.string()),
    master_port: p.optional(p.integer({ minimum: 1, maximum: 65_535 })),
    ...connection,
  },
  async ({ master_host, master_port, ...place }, context) => {
    const master = master_host ? [master_host, master_port ?? 6379] : ['NO', 'ONE']
    return isOk(await send(place, context, 'SLAVEOF', ...master))
  },
)

/**
 * List the members of a set.
 *
 * @example salt '*' redis.smembers foo_set
 */
export const smembers = fn({ key, ...connection }, ({ key, ...place }, context) =>
  send(place, context, 'SMEMBERS', key),
)

/**
 * Return the time of the server, in seconds since 1970.
 *
 * @example salt '*' redis.time
 */
export const time = fn({ ...connection }, async (place, context) =>
  Number(((await send(place, context, 'TIME')) as Reply[])[0]),
)

/**
 * Return the number of members of a sorted set.
 *
 * @example salt '*' redis.zcard foo_sorted
 */
export const zcard = fn({ key, ...connection }, ({ key, ...place }, context) =>
  send(place, context, 'ZCARD', key),
)

/**
 * List the members of a sorted set from one index to another.
 *
 * @example salt '*' redis.zrange foo_sorted 0 10
 */
export const zrange = fn(
  { key, start: index, stop: index, ...connection },
  ({ key, start, stop, ...place }, context) => send(place, context, 'ZRANGE', key, start, stop),
)

/**
 * Return the address of the master that a sentinel knows by a name. The sentinel is that of the settings
 * `redis_sentinel.host` (by default localhost), `redis_sentinel.port` and `redis_sentinel.password`.
 *
 * @example salt '*' redis.sentinel_get_master_ip mymaster
 */
export const sentinel_get_master_ip = fn(
  { master: p.string(), ...serverParams, ...passwordParam },
  ({ master, ...place }, context) =>
    withRedis(
      place,
      context,
      async (ask) => {
        const reply = await ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', master)
        if (reply === null) throw new CommandExecutionError(`The sentinel knows no master named '${master}'.`)
        const [host, port] = reply as Reply[]
        return { master_host: host, master_port: Number(port) }
      },
      'redis_sentinel',
    ),
)

/**
 * Return the address of the master of a replica; empty texts if the server is a master.
 *
 * @example salt '*' redis.get_master_ip
 */
export const get_master_ip = fn({ ...serverParams, ...passwordParam }, async (place, context) => {
  const { master_host = '', master_port = '' } = parseInfo(String(await send(place, context, 'INFO')))
  return { master_host, master_port }
})

/** Send one command on a connection of its own. */
const send = (place: Place, context: Context, command: string, ...words: readonly (string | number)[]) =>
  withRedis(place, context, (ask) => ask(command, ...words))

const answers = (place: Place, context: Context): Promise<boolean> =>
  send(place, context, 'PING').then(
    (reply) => reply === 'PONG',
    (error) => {
      if (/npm package/.test(error.message)) throw error
      return false
    },
  )

const isOk = (reply: Reply): boolean => reply === 'OK'
