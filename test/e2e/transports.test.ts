/** Fleets over tcp and ws, from start to restart, with TLS and certificates of both ends. */
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { until } from '../harness/until.ts'

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))
const ssl = {
  certfile: fixture('node.crt'),
  keyfile: fixture('node.key'),
  ca_certs: fixture('ca.crt'),
  cert_reqs: 'CERT_REQUIRED',
}

test.concurrent.for(['tcp', 'ws'])(
  'a fleet over %s with TLS runs jobs, and reconnects after a restart of the master',
  async (transport, { onTestFinished }) => {
    const options = { transport, ssl }
    const cluster = await Cluster.open({ minions: ['web1', 'db1'], master: options, minion: options })
    onTestFinished(() => cluster.close())
    const ping = await cluster.salt('*', 'test.ping', '--out', 'json', '--static')
    expect(JSON.parse(ping.stdout)).toEqual({ web1: true, db1: true })
    const large = await cluster.salt(
      'web1',
      'cmd.run',
      'head -c 3000000 /dev/zero | tr "\\0" x',
      '--out',
      'json',
    )
    expect(JSON.parse(large.stdout).web1).toHaveLength(3_000_000)
    const client = await cluster.client()
    await until('both to be known as connected', async () => {
      const plan = await client.plan({ tgt: '*', fun: 'test.ping' })
      return plan.allowed && plan.connected.length === 2
    })
    await client.close()
    await cluster.master.stop()
    await cluster.startMaster()
    const again = await cluster.salt('*', 'test.ping', '--out', 'json', '--static')
    expect(JSON.parse(again.stdout)).toEqual({ web1: true, db1: true })
  },
)

test.concurrent('a minion without the certificate that the master requires cannot connect, and says what to check', async ({
  onTestFinished,
}) => {
  const cluster = await Cluster.open({ master: { transport: 'tcp', ssl } })
  onTestFinished(() => cluster.close())
  const minion = cluster.minionDaemon('web1', { transport: 'tcp', ssl: true })
  await minion.writeConfig()
  minion.start()
  onTestFinished(() => minion.stop())
  await minion.logged("'ssl' are the same on both ends")
})

test.concurrent.for([
  ['at once', 'str'],
  ['one at a time', 'failover'],
])('a minion has masters of several transports, %s', async ([, master_type], { onTestFinished }) => {
  const zeromq = await Cluster.open()
  onTestFinished(() => zeromq.close())
  const tcp = await Cluster.open({ start: false, master: { transport: 'tcp', ssl } })
  onTestFinished(() => tcp.close())
  await tcp.writeMasterKey(await readFile(join(zeromq.configDir, 'pki', 'master.pem')))
  await tcp.startMaster()
  const master = [`zeromq://127.0.0.1:${zeromq.ports.request}`, `tcp://127.0.0.1:${tcp.ports.request}`]
  const minion = await zeromq.addMinion('web1', { master, master_type, ssl })
  if (master_type === 'failover') await zeromq.master.killAll()
  else expect((await zeromq.salt('web1', 'test.ping', '--out', 'json')).stdout).toContain('true')
  await minion.logged(`publish port 127.0.0.1:${tcp.ports.publish} is up`)
  expect((await tcp.salt('web1', 'test.ping', '--out', 'json')).stdout).toContain('true')
})

/** Takes a connection and says nothing; takes another one when it loses that. */
function silentStranger(port: number): () => void {
  let socket: Socket
  let isOver = false
  const take = () => {
    socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.once('close', () => isOver || setTimeout(take, 100))
    socket.resume()
  }
  take()
  return () => {
    isOver = true
    socket.destroy()
  }
}

test.concurrent.for(['tcp', 'ws'])(
  'over %s, silent connections that use up all files of the master do not disturb others, and new ones work afterwards',
  async (transport, { onTestFinished }) => {
    const cluster = await Cluster.open({
      minions: ['web1'],
      master: { transport },
      minion: { transport, multiprocessing: false },
      within: ['bash', '-c', 'ulimit -n 128; exec "$0" "$@"'],
    })
    onTestFinished(() => cluster.close())
    const client = await cluster.client()
    onTestFinished(() => client.close())
    const ping = async () =>
      expect(await returnsOf(client, { tgt: 'web1', fun: 'test.ping' })).toEqual({ web1: true })
    await ping()
    const ports = Object.values(cluster.ports)
    const strangers = Array.from({ length: 200 }, () => ports.map(silentStranger)).flat()
    for (const port of ports) await cluster.master.logged(`New connections to port ${port} are refused`)
    for (let round = 0; round < 5; round++) await ping()
    for (const end of strangers) end()
    await cluster.addMinion('late', { transport })
  },
)
