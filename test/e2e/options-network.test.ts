import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { freePort } from '../harness/ports.ts'
import { treeOf } from '../harness/processes.ts'
import { runHere } from '../harness/run-here.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
afterEach(() => cluster?.close())

/** Ports on which something listens, with the address in the kernel's notation. */
async function listening(): Promise<Map<number, string>> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8')))
  const rows = tables.flatMap((table) => table.split('\n').slice(1)).map((row) => row.trim().split(/\s+/))
  const local = rows.filter(([, , , state]) => state === '0A').map(([, address = '']) => address.split(':'))
  return new Map(local.map(([host = '', port = '']) => [Number.parseInt(port, 16), host]))
}

const ping = (target: string) => cluster.salt(target, 'test.ping', '--out', 'json', '--static')

test('over IPv6, with event buses on TCP ports and publications by topic, jobs go out and come back', async () => {
  const [pub, pull, queue, workers, ...own] = await Promise.all(Array.from({ length: 8 }, freePort))
  const ports = (a?: number, b?: number) => ({ ipc_mode: 'tcp', tcp_pub_port: a, tcp_pull_port: b })
  cluster = await Cluster.open({
    master: {
      interface: '::1',
      ipv6: true,
      ipc_mode: 'tcp',
      tcp_master_pub_port: pub,
      tcp_master_pull_port: pull,
      tcp_master_publish_pull: queue,
      tcp_master_workers: workers,
      zmq_filtering: true,
      worker_threads: 3,
      zmq_backlog: 50,
      pub_hwm: 20,
      sign_pub_messages: false,
    },
  })
  const minion = { master: '::1', ipv6: true, sign_pub_messages: false }
  await cluster.addMinion('topics', { ...minion, ...ports(own[0], own[1]), zmq_filtering: true })
  await cluster.addMinion('all', {
    ...minion,
    ...ports(own[2], own[3]),
    master: `[::1]:${cluster.ports.request}`,
  })

  expect(JSON.parse((await ping('*')).stdout)).toEqual({ topics: true, all: true })
  expect(JSON.parse((await ping('topics')).stdout)).toEqual({ topics: true })

  const heard = await listening()
  const ipv6Loopback = '00000000000000000000000001000000'
  expect(heard.get(cluster.ports.publish)).toBe(ipv6Loopback)
  expect(heard.get(cluster.ports.request)).toBe(ipv6Loopback)
  for (const port of [pub, pull, queue, workers, ...own]) expect(heard.get(port ?? 0)).toBe('0100007F')
  expect(treeOf(cluster.master.pid).filter(({ command }) => command.includes('MWorker'))).toHaveLength(3)
  expect(cluster.master.output).toContain('every user of this host can read the events of this master')
})

test.each([
  ['an unknown transport', 'carrier-pigeon', /no transport 'carrier-pigeon'.*zeromq/],
  [
    'a transport within one process',
    'memory',
    /'memory' connects masters and minions of one process.*zeromq/,
  ],
])(
  '%s keeps the daemons and salt-call from starting, and the errors name them',
  async (_, transport, sentence) => {
    cluster = await Cluster.open({ start: false, master: { transport } })
    cluster.master.start()
    await cluster.master.exited()
    expect(cluster.master.exitCode).not.toBe(0)
    expect(cluster.master.output).toMatch(sentence)

    const minion = cluster.minionDaemon('web1', { transport })
    await minion.writeConfig()
    minion.start()
    await minion.exited()
    expect(minion.exitCode).not.toBe(0)
    expect(minion.output).toMatch(sentence)
    const called = await runHere('salt-call', ['-c', minion.directory, 'test.ping'])
    expect([called.code !== 0, called.stderr]).toEqual([true, expect.stringMatching(sentence)])
  },
)

describe('with a master that does not sign publications', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await Cluster.open({ master: { sign_pub_messages: false, gather_job_timeout: 2 } })
  })
  afterAll(() => cluster?.close())

  test('a minion that requires signatures takes no unsigned job; one that does not, with zmq_filtering, takes it', async () => {
    const strict = await cluster.addMinion('strict', { sign_pub_messages: true })
    await cluster.addMinion('filters', { sign_pub_messages: false, zmq_filtering: true })
    const { stdout, code } = await cluster.salt('-t', '1', '*', 'test.ping', '--out', 'txt')
    expect(stdout).toContain('filters: True')
    expect(stdout).toMatch(/strict: Minion did not return/)
    expect(code).toBe(75)
    await strict.logged('it is not signed by the master. Set sign_pub_messages: true there')
  })

  test('two masters are served at once, and one that is down does not delay the other', async () => {
    const other = await Cluster.open({ start: false })
    try {
      const pem = await readFile(`${cluster.master.directory}/pki/master.pem`)
      await other.writeMasterKey(pem)
      await other.startMaster()
      const addresses = [other, cluster].map(({ ports }) => `127.0.0.1:${ports.request}`)
      const minion = await cluster.addMinion('both', { master: addresses, sign_pub_messages: false })
      await until('both masters', () => minion.output.split('is ready to receive jobs').length === 3)
      for (const each of [cluster, other]) {
        const { stdout } = await each.salt('both', 'test.ping', '--out', 'txt')
        expect(stdout).toBe('both: True\n')
      }

      await other.master.stop() // the first of the list
      const events = await cluster.events()
      const fired = events.subscribe('my/tag')
      const sent = await cluster.salt('both', 'event.send', 'my/tag', '--out', 'txt')
      expect(sent.stdout).toBe('both: True\n')
      expect((await fired[Symbol.asyncIterator]().next()).value?.tag).toBe('my/tag')
      await events.close()
      const refreshed = await cluster.salt('both', 'saltutil.refresh_grains', '--out', 'txt')
      expect(refreshed.stdout).toBe('both: True\n')
      await minion.stop()
      expect(minion.output).not.toContain('stops trying to connect')
    } finally {
      await cluster.minions.get('both')?.stop()
      await other.close()
    }
  })
})
