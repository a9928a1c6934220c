import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../../core/author/returner.ts'
import { startInfluxdb } from '../../harness/influxdb.ts'
import { needs, program } from '../../harness/needs.ts'
import { returnerWith } from '../../harness/returner.ts'
import { returnerContract } from '../returner.ts'

type Influxdb = Awaited<ReturnType<typeof startInfluxdb>>
const configOf = ({ port }: Influxdb, options: object = {}) => ({
  influxdb: { host: '127.0.0.1', port, user: 'salt', ...options },
  'influxdb.password': 'right',
})

await returnerContract({
  name: 'influxdb',
  needs: program('influxd'),
  wrongCredentials: (config) => ({ ...config, 'influxdb.password': 'wrong' }),
  async prepare() {
    const server = await startInfluxdb()
    return {
      config: configOf(server),
      async rows(jid, id) {
        const [series] = await server.ask(`SELECT * FROM "returns" WHERE jid = '${jid}' AND id = '${id}'`)
        return series?.values ?? []
      },
      drop: server.drop,
    }
  },
})

describe('influxdb', needs(program('influxd')), () => {
  const jid = '20300101000000000000'
  const ret = { jid, id: 'web1', fun: 'test.ping', fun_args: [], return: { a: 1 }, retcode: 0, success: true }
  let server: Influxdb
  let influxdb: Returner
  beforeAll(async () => {
    server = await startInfluxdb()
    influxdb = await returnerWith('influxdb', configOf(server, { timeout: 2 }))
    expect(await influxdb.migrate?.()).toEqual(['Created the database salt.'])
    expect(await influxdb.migrate?.()).toEqual([])
  })
  afterAll(async () => {
    await influxdb.close?.()
    await server.drop()
  })

  test("has Salt's points, at the time of the job", async () => {
    await influxdb.save(ret)
    const [series] = await server.ask('SELECT fun, id, jid, "return", full_ret FROM "returns"')
    const [[time, fun, id, itsJid, value, full] = []] = series?.values ?? []
    expect([time, fun, id, itsJid]).toEqual(['2030-01-01T00:00:00Z', 'test.ping', 'web1', jid])
    expect(JSON.parse(String(value))).toEqual({ a: 1 })
    const { return: _, ...rest } = ret
    expect(JSON.parse(String(full))).toEqual(rest)
    await influxdb.saveLoad?.({ jid, load: { fun: 'test.ping' }, minions: ['web1'] })
    const [jobs] = await server.ask('SELECT jid, "load" FROM jids')
    expect(jobs?.values[0]?.slice(1)).toEqual([jid, '{"fun": "test.ping"}'])
  })

  test('reads points of Python Salt, the last one of two', async () => {
    const old = '20200101000000000000'
    const full = JSON.stringify({
      jid: old,
      id: 'web1',
      fun: 'test.ping',
      fun_args: [],
      retcode: 0,
      success: true,
    })
    const text = full.replaceAll('"', '\\"')
    const point = (value: string) =>
      `returns,fun=test.ping,id=web1,jid=${old} full_ret="${text}",return="${value}"`
    await server.write(point('false'))
    await server.write(point('true'))
    await server.write(`jids,jid=${old} load="{\\"fun\\": \\"test.ping\\"}"`)
    expect(await influxdb.getJid?.(old)).toEqual([{ ...JSON.parse(full), return: true }])
    expect(await influxdb.getLoad?.(old)).toEqual({ jid: old, load: { fun: 'test.ping' }, minions: [] })
  })

  test.each(['a\nb', 'ends with \\', 'a\\,b'])(
    'refuses permanently to save returns of a minion called %j',
    async (id) => {
      await expect(influxdb.save({ ...ret, id })).rejects.toMatchObject({ code: 'UNSAVABLE' })
    },
  )

  test('gives up waiting for a server that hangs, and works again after it was restarted', async () => {
    await server.pause()
    await expect(influxdb.save(ret)).rejects.toThrow(`127.0.0.1:${server.port}: no answer within 2 seconds`)
    await server.kill()
    await expect(influxdb.save(ret)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/)
    await server.start()
    await influxdb.save(ret)
    expect(await influxdb.getJid?.(jid)).toEqual([ret])
  })
})
