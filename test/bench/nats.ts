/**
 * `npm run bench:nats -- [--minions 1000,5000,10000] [--rounds 3] [--write]`
 *
 * `test.ping` to simulated minions over NATS, beside the same over ZeroMQ: what master and server do for each minion, how many messages
 * pass, and what is done while nothing happens.
 */
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Cluster } from '../harness/daemons.ts'
import { freePort } from '../harness/ports.ts'
import { treeOf } from '../harness/processes.ts'
import { startNats } from '../harness/store-servers.ts'
import { until } from '../harness/until.ts'
import { Fleet } from './fleet.ts'
import { median } from './median.ts'
import { usageOf } from './processes.ts'
import { table } from './table.ts'

const { values: options } = parseArgs({
  options: {
    minions: { type: 'string', default: '1000,5000,10000' },
    rounds: { type: 'string', default: '3' },
    write: { type: 'boolean', default: false },
  },
})

/** How long the work at rest is measured. */
const REST_MS = 20_000
const LONGEST_PING_S = 120
/** Simulated minions in a process: over ZeroMQ each has several open files. */
const MINIONS_EACH = 1_250
/** With more, closing the connections of ZeroMQ takes minutes. */
const BESIDE_UP_TO = 5_000

/** The server of NATS: its process, and the messages that it has received and sent. */
interface Server {
  readonly pid: number
  readonly servers: readonly string[]
  messages(): Promise<{ readonly received: number; readonly sent: number; readonly connections: number }>
  drop(): Promise<void>
}

async function startServer(): Promise<Server> {
  const monitor = await freePort()
  const server = await startNats(`http: "127.0.0.1:${monitor}"`)
  const [pid = 0] = treeOf(process.pid)
    .filter(({ command }) => command.includes('nats-server'))
    .map(({ pid }) => pid)
  return {
    pid,
    servers: [`127.0.0.1:${server.port}`],
    async messages() {
      const answer = await fetch(`http://127.0.0.1:${monitor}/varz`)
      const { in_msgs: received = 0, out_msgs: sent = 0, connections = 0 } = (await answer.json()) as Status
      return { received, sent, connections }
    },
    drop: server.drop,
  }
}

interface Status {
  readonly in_msgs?: number
  readonly out_msgs?: number
  readonly connections?: number
}

/** Figures by name; those of pings are medians. */
type Figures = Readonly<Record<string, number>>

async function measure(minions: number, server: Server | undefined): Promise<Figures> {
  const nats = server && { servers: server.servers, prefix: `bench${minions}` }
  const cluster = await Cluster.open({
    master: { worker_threads: 2, ...(nats && { transport: 'nats', nats }) },
  })
  const watched = [cluster.master.pid, ...(server ? [server.pid] : [])]
  const used = () => watched.map((pid) => usageOf(pid).cpuSeconds)
  const { ports, config } = cluster
  const address = { host: '127.0.0.1', port: ports.request, ownTopics: true, ...(nats && { nats }) }
  let fleet: Fleet | undefined
  try {
    const started = performance.now()
    fleet = await Fleet.open({
      minions,
      processes: Math.ceil(minions / MINIONS_EACH),
      address,
      pkiDir: config.pki_dir,
    })
    const signIn = (performance.now() - started) / 1000
    const client = await cluster.client()
    await until('all minions to be known as connected', async () => {
      const plan = await client.plan({ tgt: '*', fun: 'test.ping' })
      return plan.allowed && plan.connected.length === minions
    })
    const pings: { ms: number; cpu: number[]; received: number; sent: number }[] = []
    for (let round = 0; round <= Number(options.rounds); round++) {
      const [cpu, before] = [used(), await server?.messages()]
      const from = performance.now()
      const run = await client.cmdIter({ tgt: '*', fun: 'test.ping', timeout: LONGEST_PING_S })
      let returned = 0
      for await (const { state } of run) if (state === 'returned') returned++
      const ms = performance.now() - from
      if (returned !== minions) throw new Error(`${returned} of ${minions} minions returned`)
      await delay(1_000) // what is stored after the last return
      const after = await server?.messages()
      const now = used()
      pings.push({
        ms,
        cpu: now.map((seconds, n) => ((seconds - (cpu[n] ?? 0)) / minions) * 1e6),
        received: ((after?.received ?? 0) - (before?.received ?? 0)) / minions,
        sent: ((after?.sent ?? 0) - (before?.sent ?? 0)) / minions,
      })
    }
    await client.close()
    const [rest, messages] = [used(), await server?.messages()]
    await delay(REST_MS)
    const [later, afterwards] = [used(), await server?.messages()]
    const measured = pings.slice(1)
    const idle = (n: number) => (((later[n] ?? 0) - (rest[n] ?? 0)) / REST_MS) * 1e5
    return {
      signIn,
      ms: median(measured.map(({ ms }) => ms)),
      master: median(measured.map(({ cpu }) => cpu[0] ?? 0)),
      server: median(measured.map(({ cpu }) => cpu[1] ?? 0)),
      received: median(measured.map(({ received }) => received)),
      sent: median(measured.map(({ sent }) => sent)),
      masterMemory: usageOf(cluster.master.pid).privateBytes / 2 ** 20,
      serverMemory: server ? usageOf(server.pid).privateBytes / 2 ** 20 : 0,
      connections: messages?.connections ?? 0,
      idleMaster: idle(0),
      idleServer: idle(1),
      idleMessages: ((afterwards?.received ?? 0) - (messages?.received ?? 0)) / (REST_MS / 1000),
    }
  } finally {
    fleet?.close()
    await cluster.close()
  }
}

const counts = options.minions.split(',').map(Number)
const columns: { readonly minions: number; readonly zeromq: Figures | undefined; readonly nats: Figures }[] =
  []
for (const minions of counts) {
  const zeromq = minions <= BESIDE_UP_TO ? await measure(minions, undefined) : undefined
  const server = await startServer()
  try {
    columns.push({ minions, zeromq, nats: await measure(minions, server) })
  } finally {
    await server.drop()
  }
}

const row = (name: string, of: (column: (typeof columns)[number]) => string): string[] => [
  name,
  ...columns.map(of),
]
const pair =
  (figure: string, digits = 0) =>
  (column: (typeof columns)[number]) =>
    `${own(figure, digits)(column)}${column.zeromq ? ` (${(column.zeromq[figure] ?? 0).toFixed(digits)})` : ''}`
const own =
  (figure: string, digits = 0) =>
  (column: (typeof columns)[number]) =>
    (column.nats[figure] ?? 0).toFixed(digits)
const text = [
  '# NATS',
  '',
  'Written by `npm run bench:nats -- --write`; medians of one run.',
  `Simulated minions, one master with two workers, one server of NATS; ${cpus().length} cores for all of them. In brackets: the same over ZeroMQ.`,
  '',
  ...table([
    row('', ({ minions }) => `${minions} minions`),
    row('signing in, all, s', pair('signIn', 1)),
    row('`test.ping`, ms', pair('ms')),
    row('processor time of the master for each minion, µs', pair('master')),
    row('processor time of the server for each minion, µs', own('server')),
    row('messages to the server for each minion and job', own('received', 2)),
    row('messages from the server for each minion and job', own('sent', 2)),
    row('connections to the server', own('connections')),
    row('memory of the server, MB', own('serverMemory')),
    row('memory of the master, MB', pair('masterMemory')),
    row('at rest: the master, % of a core', pair('idleMaster', 1)),
    row('at rest: the server, % of a core', own('idleServer', 1)),
    row('at rest: messages to the server, per second', own('idleMessages')),
  ]),
  '',
].join('\n')
process.stdout.write(text)
if (options.write) await writeFile(new URL('nats.md', import.meta.url), text)
