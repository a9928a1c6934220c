import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { Context } from 'salt-ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as redis from '../../../modules/redismod.ts'
import { needs, program } from '../../harness/needs.ts'
import { startRedis } from '../../harness/store-servers.ts'
import { type AnyFn, call } from './context.ts'
import { settingsContext } from './settings-context.ts'

type Server = Awaited<ReturnType<typeof startRedis>>

describe('redis with a server of its own', needs(program('redis-server')), () => {
  let server: Server
  let context: Context
  beforeAll(async () => {
    server = await startRedis('--requirepass', 'geheim')
    context = settingsContext({
      'redis.host': '127.0.0.1',
      'redis.port': server.port,
      'redis.password': 'geheim',
    })
  })
  afterAll(() => server?.drop())
  const run = (called: AnyFn, given: Record<string, unknown> = {}) => call(called, given, context)

  test('sets, reads and deletes keys', async () => {
    expect(await run(redis.set_key, { key: 'a', value: 'grün\0' })).toBe(true)
    expect(await run(redis.get_key, { key: 'a' })).toBe('grün\0')
    expect(await run(redis.get_key, { key: 'b' })).toBeNull()
    expect(await run(redis.exists, { key: 'a' })).toBe(1)
    expect(await run(redis.key_type, { key: 'a' })).toBe('string')
    expect(await run(redis.expire, { key: 'a', seconds: 100 })).toBe(true)
    expect(await run(redis.expireat, { key: 'b', timestamp: 1_900_000_000 })).toBe(false)
    expect(await run(redis.keys, { pattern: 'a*' })).toEqual(['a'])
    expect(await run(redis.dbsize)).toBe(1)
    expect(await run(redis.delete, { keys: ['a', 'b'] })).toBe(1)
    await expect(run(redis.delete)).rejects.toThrow('needs at least one key')
  })

  test('sets and reads hashes', async () => {
    const key = 'h'
    expect(await run(redis.hmset, { key, fieldsvals: { a: '1', b: '0644' } })).toBe(true)
    await expect(run(redis.hmset, { key })).rejects.toThrow('needs at least one field=value')
    expect(await run(redis.hgetall, { key })).toEqual({ a: '1', b: '0644' })
    expect(await run(redis.hgetall, { key: 'none' })).toEqual({})
    expect(await run(redis.hset, { key, field: 'c', value: 'x' })).toBe(1)
    expect(await run(redis.hset, { key, field: 'c', value: 'y' })).toBe(0)
    expect(await run(redis.hsetnx, { key, field: 'c', value: 'z' })).toBe(0)
    expect(await run(redis.hget, { key, field: 'c' })).toBe('y')
    expect(await run(redis.hmget, { key, fields: ['c', 'none'] })).toEqual(['y', null])
    expect(await run(redis.hexists, { key, field: 'c' })).toBe(true)
    expect(await run(redis.hlen, { key })).toBe(3)
    expect(await run(redis.hvals, { key })).toEqual(['1', '0644', 'y'])
    expect(await run(redis.hincrby, { key, field: 'a', increment: 5 })).toBe(6)
    expect(await run(redis.hincrbyfloat, { key, field: 'a', increment: 1 })).toEqual(new Number(7))
    expect(await run(redis.hscan, { key, match: 'c*', count: 10 })).toEqual([0, { c: 'y' }])
    expect(await run(redis.hdel, { key, fields: ['a', 'b', 'none'] })).toBe(2)
  })

  test('returns an integer of 64 bits exactly', async () => {
    const given = { key: 'big', field: 'n' }
    await run(redis.hset, { ...given, value: '9007199254740992' })
    expect(await run(redis.hincrby, given)).toBe(9007199254740993n)
  })

  test('reads lists and sets', async () => {
    expect(await run(redis.llen, { key: 'l' })).toBe(0)
    expect(await run(redis.lrange, { key: 'l', start: 0, stop: -1 })).toEqual([])
    expect(await run(redis.smembers, { key: 's' })).toEqual([])
    expect(await run(redis.zcard, { key: 'z' })).toBe(0)
    expect(await run(redis.zrange, { key: 'z', start: 0, stop: -1 })).toEqual([])
  })

  test('returns and changes facts about the server', async () => {
    expect(await run(redis.config_get, { pattern: 'maxmemory' })).toEqual({ maxmemory: '0' })
    expect(await run(redis.config_set, { name: 'maxmemory', value: '100mb' })).toBe(true)
    expect(await run(redis.config_get, { pattern: 'maxmemory' })).toEqual({ maxmemory: '104857600' })
    await expect(run(redis.config_set, { name: 'nonsense', value: '1' })).rejects.toThrow(
      `Redis at 127.0.0.1:${server.port}: ERR Unknown option`,
    )
    const info = (await run(redis.info)) as Record<string, unknown>
    expect(info).toMatchObject({ role: 'master', redis_mode: 'standalone', tcp_port: server.port })
    expect(info.used_cpu_sys).toBeInstanceOf(Number)
    expect(await run(redis.time)).toBeGreaterThan(1_700_000_000)
    expect(await run(redis.lastsave)).toBeGreaterThan(1_700_000_000)
    expect(await run(redis.save)).toBe(true)
    expect(await run(redis.bgrewriteaof)).toBe(true)
    expect(await run(redis.get_master_ip)).toEqual({ master_host: '', master_port: '' })
    expect(await run(redis.slaveof, { master_host: '127.0.0.1', master_port: 1 })).toBe(true)
    expect(await run(redis.get_master_ip)).toEqual({ master_host: '127.0.0.1', master_port: 1 })
    expect(await run(redis.slaveof)).toBe(true)
  })

  test('empties one database, or all', async () => {
    for (const db of [1, 2]) await run(redis.set_key, { key: 'k', value: 'v', db })
    expect(await run(redis.flushdb, { db: 1 })).toBe(true)
    expect([await run(redis.dbsize, { db: 1 }), await run(redis.dbsize, { db: 2 })]).toEqual([0, 1])
    expect(await run(redis.flushall)).toBe(true)
    expect(await run(redis.dbsize, { db: 2 })).toBe(0)
  })

  test('names the server and the reason when it refuses', async () => {
    await run(redis.set_key, { key: 'text', value: 'v' })
    await expect(run(redis.llen, { key: 'text' })).rejects.toThrow('WRONGTYPE')
    await expect(run(redis.dbsize, { password: 'falsch' })).rejects.toThrow(
      `Redis at 127.0.0.1:${server.port}: WRONGPASS`,
    )
    expect(await run(redis.ping, { password: 'falsch' })).toBe(false)
    await expect(
      run(redis.sentinel_get_master_ip, { master: 'm', host: '127.0.0.1', port: server.port }),
    ).rejects.toThrow('NOAUTH')
  })

  test('shuts the server down, and then reports it as down', async () => {
    expect(await run(redis.ping)).toBe(true)
    expect(await run(redis.shutdown)).toBe(true)
    expect(await run(redis.ping)).toBe(false)
    expect(await run(redis.shutdown)).toBe(false)
    await expect(run(redis.dbsize)).rejects.toThrow(
      `Redis at 127.0.0.1:${server.port}: connect ECONNREFUSED 127.0.0.1:${server.port}`,
    )
  })
})

test('a function of redis stops when its job does', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const stop = new AbortController()
    server.once('connection', () => stop.abort())
    const { port } = server.address() as AddressInfo
    const waiting = call(
      redis.dbsize,
      { host: '127.0.0.1', port },
      settingsContext({}, { signal: stop.signal }),
    )
    await expect(waiting).rejects.toThrow(`Redis at 127.0.0.1:${port}: Connection is closed.`)
  } finally {
    server.close()
  }
})
