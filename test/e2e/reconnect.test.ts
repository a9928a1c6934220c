/** After an outage of the master or the network the next jobs are answered. `npm run bench:outages` measures how soon. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LocalClient } from '../../core/client/index.ts'
import { tags } from '../../core/events/index.ts'
import { Cluster, type Daemon, jobsWithin } from '../harness/daemons.ts'
import { MOUNTS, needs } from '../harness/needs.ts'
import { withHosts } from '../harness/own-hosts.ts'
import { freePort } from '../harness/ports.ts'
import { openProxy, type TcpProxy } from '../harness/proxy.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { until } from '../harness/until.ts'

/** One for all tests: each leaves it with its minions reachable, as far as it does not say otherwise. */
let cluster: Cluster
/** Between web2 and the ports of the master. */
let proxies: readonly TcpProxy[] = []
beforeAll(async () => {
  cluster = await Cluster.open()
  const { request, publish } = cluster.ports
  const [toRequest, toPublish] = await Promise.all(
    [request, publish].map((port) => openProxy({ host: '127.0.0.1', port })),
  )
  proxies = [toRequest!, toPublish!]
  await Promise.all([
    cluster.addMinion('web1', jobsWithin),
    cluster.addMinion('web2', { ...jobsWithin, master_port: toRequest!.port, publish_port: toPublish!.port }),
  ])
})
afterAll(async () => {
  await cluster?.close()
  for (const proxy of proxies) await proxy.close()
})

const all = { web1: true, web2: true }

/** Resolves when a job has reached these minions and was answered. */
async function answered(...ids: string[]): Promise<void> {
  const client = await cluster.client()
  try {
    while (Object.keys(await ping(client, ids)).length < ids.length);
  } finally {
    await client.close()
  }
}

const ping = (client: LocalClient, ids: readonly string[]) =>
  returnsOf(client, { tgt: ids, tgtType: 'list', fun: 'test.ping', timeout: 1, gatherJobTimeout: 1 })

/** Do something and wait for the event that tells of a new AES key. */
async function rotatedBy(how: () => unknown): Promise<void> {
  const bus = await cluster.events()
  const rotated = bus.subscribe((tag) => tag === tags.keyRotated)
  await how()
  for await (const _ of rotated) break
  await bus.close()
}

const one = async (): Promise<Record<string, unknown>> => {
  const client = await cluster.client()
  const returns = await returnsOf(client, { tgt: '*', fun: 'test.ping', timeout: 10 })
  await client.close()
  return returns
}

test('a return that is sent while the AES key and the session key change arrives', async () => {
  const { cachedir } = cluster.config
  const client = await cluster.client()
  const run = await client.cmdIter({ tgt: '*', fun: 'cmd.run', arg: ['sleep 3; echo done'], timeout: 30 })
  await rotatedBy(() => writeFile(join(cachedir, '.dfn'), '', { mode: 0o400 }))
  const returns: unknown[] = []
  for await (const result of run) returns.push(result.state === 'returned' ? result.return : result)
  expect(returns).toEqual(['done', 'done'])
  await client.close()
})

test('after each of several rotations of the AES key, at the first attempt: by its flag file, by a deleted key', async () => {
  const { cachedir } = cluster.config
  for (let round = 0; round < 2; round++) {
    await rotatedBy(() => writeFile(join(cachedir, '.dfn'), '', { mode: 0o400 }))
    expect(await one()).toEqual(all)
  }
  await rotatedBy(() => cluster.command('salt-key', '-y', '-d', 'web2'))
  await answered('web1', 'web2') // web2 signs in anew
})

test('after connections became half-open, and returns of that time arrive', async () => {
  const far = cluster.minions.get('web2') as Daemon
  const client = await cluster.client()
  const began = join(cluster.root, 'began')
  const command = `touch ${began}; sleep 2; echo done`
  const run = await client.cmdIter({ tgt: 'web2', fun: 'cmd.run', arg: [command], timeout: 60 })
  await until('the job to begin', () => existsSync(began))
  for (const proxy of proxies) proxy.freeze()
  far.output = ''
  await answered('web2')
  for await (const result of run) expect(result).toMatchObject({ id: 'web2', return: 'done' })
  expect(far.output).toContain('is down')
  await client.close()
})

test('after the master was stopped and started again', async () => {
  await cluster.master.stop()
  await cluster.master.writeConfig({ publish_session: 2 }) // for the next test
  await cluster.startMaster()
  await answered('web1', 'web2')
})

test('after each of several rotations of the AES key by age, at the first attempt', async () => {
  for (let round = 0; round < 2; round++) {
    await rotatedBy(() => {})
    expect(await one()).toEqual(all)
  }
})

test('after the master came back on another publish port', async () => {
  await cluster.minions.get('web2')?.stop() // whose proxy leads to the port before
  await cluster.master.stop()
  await cluster.master.writeConfig({ publish_port: await freePort() })
  await cluster.startMaster()
  await answered('web1')
})

test('after the master moved to another address under the same name', needs(MOUNTS), async () => {
  const hosts = join(cluster.root, 'hosts')
  const moveTo = (address: string) => writeFile(hosts, `127.0.0.1 localhost\n${address} master.test\n`)
  await moveTo('127.0.0.1')
  const moved = cluster.minionDaemon('moved', { ...jobsWithin, master: 'master.test' })
  cluster.minions.set('moved', moved)
  await moved.writeConfig()
  moved.start('info', withHosts(hosts))
  await moved.logged('is ready to receive jobs')
  await cluster.master.stop()
  await moveTo('127.0.0.2')
  await cluster.master.writeConfig({ interface: '127.0.0.2' })
  await cluster.startMaster()
  await answered('moved')
})
