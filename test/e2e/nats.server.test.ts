/** Fleets over NATS, from start to restart of master and server. */
import { afterEach, describe, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { needs, program } from '../harness/needs.ts'
import { pageBlock } from '../harness/page-blocks.ts'
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

  test('runs jobs, lists connected minions, and reconnects after restarts of master and server', async () => {
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

  test('needs no more permissions than the documentation gives, with NATS as the store of a cluster', async () => {
    const server = await startNats(pageBlock('docs/transports.md', 'NATS', 'hocon'))
    open.push(() => server.drop())
    const nats = { servers: [`127.0.0.1:${server.port}`] }
    const cluster = await Cluster.open({
      start: false,
      master: {
        transport: 'nats',
        cluster_id: 'north',
        master_job_cache: 'nats',
        auto_accept: true,
        nats: { ...nats, user: 'master', password: 'another secret' },
      },
    })
    open.push(() => cluster.close())
    await cluster.command('salt-run', 'returner.migrate', 'nats')
    await cluster.startMaster()
    const login = { ...nats, user: 'minion', password: 'secret' }
    const minion = await cluster.addMinion('web1', { transport: 'nats', nats: login })
    const words = ['web1', 'cmd.run', 'head -c 3000000 /dev/zero | tr "\\0" x', '--out', 'json']
    const { stdout } = await cluster.salt(...(words as [string, ...string[]]))
    expect(JSON.parse(stdout).web1).toHaveLength(3_000_000)
    await until('the job in the store', async () => {
      const listed = await cluster.command('salt-run', 'jobs.list_jobs', 'ext_source=nats', '--out', 'json')
      return listed.stdout.includes('cmd.run')
    })
    for (const { output } of [cluster.master, minion]) expect(output).not.toContain('does not let this user')
  })
})
