import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { mongodbDouble } from '../../harness/mongodb.ts'
import { freePort } from '../../harness/ports.ts'
import { returnerWith } from '../../harness/returner.ts'
import { SLOW } from '../../harness/slow.ts'
import { returnerContract } from '../returner.ts'

await returnerContract({
  name: 'mongo',
  async prepare() {
    const server = await mongodbDouble()
    return {
      config: { mongo: { host: '127.0.0.1', port: server.port, db: 'salt' } },
      rows: async (jid, minion) =>
        server.documents('saltReturns').filter((each) => each.jid === jid && each.minion === minion),
      events: async (tag) => server.documents('events').filter((each) => each.tag === tag),
      drop: server.close,
    }
  },
})

describe('mongo, with a local double of the server', () => {
  const jid = '20300101000000000000'
  const ret = {
    jid,
    id: 'web1',
    fun: 'test.ping',
    fun_args: [],
    return: { 'a.b': { $c: 1 } },
    retcode: 0,
    success: true,
  }
  let server: Awaited<ReturnType<typeof mongodbDouble>>
  let mongo: Returner
  beforeAll(async () => {
    server = await mongodbDouble()
    mongo = await returnerWith('mongo', { 'mongo.uri': `mongodb://127.0.0.1:${server.port}/salt` })
  })
  afterAll(async () => {
    await mongo.close?.()
    await server.close()
  })

  test("has Salt's documents", async () => {
    await mongo.save(ret)
    expect(server.documents('saltReturns')).toMatchObject([
      {
        minion: 'web1',
        jid,
        fun: 'test.ping',
        return: { 'a-b': { '%24c': 1 } },
        full_ret: { id: 'web1', jid },
      },
    ])
    await mongo.saveLoad?.({
      jid,
      load: { jid, fun: 'test.ping', kwargs: { 'a.$b%': 1 } },
      minions: ['web1'],
    })
    expect(server.documents('jobs')).toMatchObject([
      { jid, fun: 'test.ping', kwargs: { 'a%2e%24b%25': 1 }, minions: ['web1'] },
    ])
  })

  test('reads documents of Python Salt, the last one of two', async () => {
    const old = '20200101000000000000'
    const python = (value: unknown) => ({
      minion: 'web1',
      jid: old,
      fun: 'test.ping',
      return: value,
      full_ret: { jid: old, id: 'web1', fun: 'test.ping', return: value, retcode: 1, success: false },
    })
    server.documents('saltReturns').push(python('first'), python('last'))
    server.documents('jobs').push({ jid: old, fun: 'test.ping', tgt: '*' })
    expect(await mongo.getJid?.(old)).toEqual([{ ...python('last').full_ret, fun_args: [] }])
    expect(await mongo.getLoad?.(old)).toEqual({
      jid: old,
      load: { jid: old, fun: 'test.ping', tgt: '*' },
      minions: [],
    })
  })

  test('refuses permanently a return that is larger than the limit of a document', SLOW, async () => {
    await expect(mongo.save({ ...ret, return: 'x'.repeat(9 * 1024 * 1024) } as never)).rejects.toMatchObject({
      code: 'UNSAVABLE',
    })
  })

  test('names a server that is down, and gives up waiting for one that hangs', SLOW, async () => {
    const saved = async (port: number) => {
      const one = await returnerWith('mongo', { mongo: { host: '127.0.0.1', port, timeout: 0.5 } })
      await one.save(ret).finally(() => one.close?.())
    }
    const none = await freePort()
    await expect(saved(none)).rejects.toThrow(`MongoDB at 127.0.0.1:${none}: connect ECONNREFUSED`)
    const hanging = createServer((socket) =>
      socket
        .on('error', () => undefined)
        .on('end', () => socket.end())
        .resume(),
    )
    await new Promise<void>((done) => hanging.listen(0, '127.0.0.1', done))
    const { port } = hanging.address() as { port: number }
    await expect(saved(port)).rejects.toThrow(`MongoDB at 127.0.0.1:${port}: `)
    await new Promise((done) => hanging.close(done))
  })

  test('refuses two addresses, and shows no password', async () => {
    const both = returnerWith('mongo', { mongo: { uri: 'mongodb://user:hidden@host/salt', host: 'other' } })
    await expect(both).rejects.toThrow('mongo.uri and mongo.host are both set')
    await expect(both).rejects.not.toThrow('hidden')
  })
})
