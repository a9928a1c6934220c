/** Fleets over NATS, from start to restart of master and server. */
import { afterEach, describe, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { needs, program } from '../harness/needs.ts'
import { startNats } from '../harness/store-servers.ts'
import { until } from '../harness/until.ts'

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

describe('a fleet over NATS', needs(program('nats-server')), () => {
  async function openFleet(minions: string[]) {
    const server = await startNats()
    open.push(() => server.drop())
    const options = { transport: 'nats', nats: { servers: [`127.0.0.1:${server.port}`], prefix: 'north' } }
    const cluster = await Cluster.open({ minions, master: options, minion: options })
    open.push(() => cluster.close())
    const json = async (target: string, ...words: string[]) =>
      JSON.parse((await cluster.salt(target, ...words, '--out', 'json', '--static')).stdout)
    return { server, cluster, json }
  }

  test('runs jobs, knows who is connected, and comes back after restarts of master and server', async () => {
    const { server, cluster, json } = await openFleet(['web1', 'db1'])
    const both = { web1: true, db1: true }
    expect(await json('*', 'test.ping')).toEqual(both)
    const large = await json('web1', 'cmd.run', 'head -c 3000000 /dev/zero | tr "\\0" x')
    expect(large.web1).toHaveLength(3_000_000)
    const client = await cluster.client()
    open.push(() => client.close())
    const connected = (count: number) =>
      until(`${count} to be known as connected`, async () => {
        const plan = await client.plan({ tgt: '*', fun: 'test.ping' })
        return plan.allowed && plan.connected.length === count
      })
    await connected(2)
    await cluster.minions.get('db1')?.stop()
    await connected(1)
    await cluster.minions.get('db1')?.start()
    await connected(2)
    await cluster.master.killAll()
    await cluster.startMaster()
    await connected(2)
    expect(await json('*', 'test.ping')).toEqual(both)
    await server.kill()
    await server.start()
    await connected(2)
    expect(await json('*', 'test.ping')).toEqual(both)
  })
})
