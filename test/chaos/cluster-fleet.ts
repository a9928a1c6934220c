/** Masters of a cluster, their minions with ledgers, their store, and what can happen to them. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { untyped } from '../../core/author/calls.ts'
import { Cluster, type Daemon } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { freePort } from '../harness/ports.ts'
import { signalAll } from '../harness/processes.ts'
import type { Random } from '../harness/random.ts'
import { startRedis } from '../harness/store-servers.ts'
import { until } from '../harness/until.ts'
import { cut, ofAddress, ofPort } from './dropped-packets.ts'
import { ledgerModules } from './ledger/build.ts'

/** Something that goes wrong and is set right again. */
export interface Fault {
  readonly name: string
  fail(random: Random): Promise<void>
  heal(): Promise<void>
}

export interface Tested {
  readonly masters: readonly Cluster[]
  readonly minions: readonly Daemon[]
  /** Those that have one master at a time: what the others publish may not reach them. */
  readonly ofOneMaster: ReadonlySet<string>
  /** The minions of each job that a master has accepted, by jid. */
  readonly jobs: Map<string, readonly string[]>
  readonly faults: readonly Fault[]
  publish(master: Cluster, ms: number): Promise<string>
  close(): Promise<void>
}

const MINIONS = 4
const SERVER = 'nats-server'

/** With `isCut`, what goes wrong are partitions, see `dropped-packets.ts`. */
export async function openCluster(transport: 'zeromq' | 'nats', isCut: boolean): Promise<Tested> {
  const closing: (() => Promise<unknown>)[] = []
  const nodes = transport === 'nats' ? await openNodes(3) : []
  for (const node of nodes) closing.push(() => node.drop())
  const redis = transport === 'zeromq' ? await startRedis() : undefined
  if (redis) closing.push(() => redis.drop())
  /** How to reach NATS, by an address that no other program uses. */
  const way = (address: string) =>
    transport === 'nats'
      ? { transport, nats: { servers: nodes.map(({ port }) => `${address}:${port}`), replicas: 3 } }
      : {}
  const master = {
    cluster_id: 'chaos',
    auto_accept: true,
    worker_threads: 2,
    missed_jobs_seconds: 600,
    missing_returns_after: 120,
    ...(redis
      ? { master_job_cache: 'redis', redis: { host: '127.0.0.1', port: redis.port } }
      : { master_job_cache: 'nats' }),
  }
  const masters: Cluster[] = []
  for (let n = 0; n < (redis ? 2 : 3); n++) {
    const id = `master${n + 1}`
    const one = await Cluster.open({ start: false, master: { ...master, ...way(addressOf(n)), id } })
    closing.push(() => one.close())
    const [first] = masters
    if (first) await one.writeMasterKey(await readFile(join(first.configDir, 'pki', 'master.pem')))
    masters.push(one)
  }
  const [first] = masters as [Cluster]
  if (!redis) await first.command('salt-run', 'returner.migrate', 'nats')
  for (const one of masters) await one.startMaster()
  const modules = ledgerModules(first.root)
  const minions = await Promise.all(
    Array.from({ length: MINIONS }, (_, n) =>
      first.addMinion(`m${n + 1}`, {
        ...way('127.0.0.1'),
        module_dirs: [modules],
        process_count_max: 4,
        master: masters.map(({ ports }) => `127.0.0.1:${ports.request}`),
        ...(redis && { master_type: n % 2 ? 'failover' : 'str' }),
      }),
    ),
  )
  const jobs = new Map<string, readonly string[]>()
  return {
    masters,
    minions,
    ofOneMaster: new Set(redis ? ['m2', 'm4'] : []),
    jobs,
    faults: isCut
      ? [
          ...masters.map((each, n) =>
            cut(
              nameOf(each),
              ...(redis ? Object.values(each.ports).flatMap(ofPort) : ofAddress(addressOf(n))),
            ),
          ),
          ...nodes.map(({ name, port, route }) => cut(name, ...ofPort(port), ...ofPort(route))),
          ...(redis ? [cut('Redis', ...ofPort(redis.port))] : []),
        ]
      : [
          ...masters.flatMap((each) => [killed(each), stopped(each)]),
          ...nodes.flatMap((node) => [node.killed, node.stopped]),
        ],
    async publish(master, ms) {
      const client = await master.client()
      try {
        const { jid, minions } = await client.runJob({
          tgt: '*',
          fun: untyped('ledger.work'),
          kwarg: { ms, bytes: 100 },
        })
        jobs.set(jid, minions)
        return jid
      } finally {
        await client.close()
      }
    },
    async close() {
      for (const close of closing.reverse()) await close()
    },
  }
}

/** The address by which a master reaches NATS. */
const addressOf = (n: number): string => `127.0.1.${n + 1}`

const nameOf = ({ master }: Cluster): string => String(master.options.id)

const killed = (cluster: Cluster): Fault => ({
  name: `${nameOf(cluster)} is killed`,
  fail: () => cluster.master.killAll(),
  heal: () => cluster.startMaster(),
})

const stopped = (cluster: Cluster): Fault => {
  const signal = (name: NodeJS.Signals) =>
    signalAll(
      cluster.master.processes().map(({ pid }) => pid),
      name,
    )
  return {
    name: `${nameOf(cluster)} is stopped`,
    fail: async () => signal('SIGSTOP'),
    heal: async () => signal('SIGCONT'),
  }
}

interface Node {
  readonly name: string
  readonly port: number
  readonly route: number
  readonly killed: Fault
  readonly stopped: Fault
  drop(): Promise<void>
}

/** Start servers of NATS that form a cluster. */
async function openNodes(count: number): Promise<Node[]> {
  const folder = await temporaryFolder('salt-ts-nats-')
  const places = await Promise.all(
    Array.from({ length: count }, async (_, n) => ({
      name: `n${n + 1}`,
      port: await freePort(),
      route: await freePort(),
    })),
  )
  const routes = places.map(({ route }) => `nats://127.0.0.1:${route}`).join(', ')
  const nodes = await Promise.all(
    places.map(async ({ name, port, route }) => {
      const own = join(folder, name)
      await mkdir(own)
      const file = join(own, 'nats.conf')
      await writeFile(
        file,
        `server_name: ${name}\nlisten: 0.0.0.0:${port}\njetstream { store_dir: "${own}" }\n` +
          `cluster { name: chaos, listen: 127.0.0.1:${route}, routes: [${routes}], no_advertise: true }\n`,
      )
      let child: ChildProcess
      const start = () => {
        child = spawn(SERVER, ['-c', file, '-l', join(own, 'log')], { stdio: 'ignore' })
      }
      start()
      return {
        name: `${name} of NATS`,
        port,
        route,
        isReady: async () => (await readFile(join(own, 'log'), 'utf8')).includes('metadata leader'),
        killed: {
          name: `${name} of NATS is killed`,
          fail: async () => void child.kill('SIGKILL'),
          heal: async () => start(),
        },
        stopped: {
          name: `${name} of NATS is stopped`,
          fail: async () => void child.kill('SIGSTOP'),
          heal: async () => void child.kill('SIGCONT'),
        },
        drop: async () => {
          child.kill('SIGKILL')
          await removeFolder(own)
        },
      }
    }),
  )
  await until('a leader of JetStream', async () => {
    const ready = await Promise.all(nodes.map(({ isReady }) => isReady().catch(() => false)))
    return ready.every(Boolean)
  })
  return nodes
}
