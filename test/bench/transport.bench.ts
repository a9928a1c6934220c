/**
 * Requests per second: one ROUTER that answers by itself, against the device with worker processes.
 * Run with `node --import tsx test/bench/transport.bench.ts`; prints a table.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getTransport } from '../../core/transport/index.ts'
import { openProxy, openWorker } from '../../core/transport/proxy.ts'
import { serveRequests } from '../../core/transport/serve-requests.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'

const REQUESTS = 20_000
const SIZE = 1_000
const transport = getTransport('zeromq')
const self = fileURLToPath(import.meta.url)

/** What a worker does for a request; `rounds` of hashing stand for decrypting, checking and storing. */
const work = (rounds: number) => async (request: Uint8Array) => {
  for (let round = 0; round < rounds; round++) createHash('sha256').update(request).digest()
  return request
}

interface Case {
  readonly name: string
  readonly rounds: number
  readonly workers: number
  readonly clients: number
}
const cases: Case[] = [0, 10].flatMap((rounds) =>
  [1, 100].flatMap((clients) =>
    [0, 1, 2].map((workers) => ({
      name: workers ? `device, ${workers} worker${workers > 1 ? 's' : ''}` : 'single ROUTER',
      rounds,
      workers,
      clients,
    })),
  ),
)

async function runAll(): Promise<void> {
  const rows = []
  for (const one of cases) rows.push(await measure(one))
  console.table(rows)
}

async function measure({ name, rounds, workers, clients }: Case): Promise<object> {
  const directory = await temporaryFolder('bench-')
  const backend = join(directory, 'workers.ipc')
  const [front, port] = workers ? await start('device', backend) : await start('server', `${rounds}`)
  const children = [front]
  for (let n = 0; n < workers; n++) children.push((await start('worker', backend, `w${n}`, `${rounds}`))[0])
  const times = await ask(port, clients)
  for (const child of children) child.kill('SIGKILL')
  await removeFolder(directory)
  times.each.sort((a, b) => a - b)
  return {
    server: name,
    'work/request': rounds ? `${rounds} hashes` : 'none',
    'under way': clients,
    'requests/s': Math.round((REQUESTS / times.all) * 1000),
    'p50 ms': quantile(times.each, 0.5),
    'p99 ms': quantile(times.each, 0.99),
  }
}

const quantile = (sorted: number[], share: number) =>
  Number(sorted[Math.floor(sorted.length * share)]?.toFixed(2))

async function ask(port: number, clients: number): Promise<{ all: number; each: number[] }> {
  const pools = Array.from({ length: Math.ceil(clients / 50) }, () =>
    transport.connectRequests({ host: '127.0.0.1', port }),
  )
  const frame = randomBytes(SIZE)
  const each: number[] = []
  const loop = async (client: number, count: number) => {
    for (let n = 0; n < count; n++) {
      const started = performance.now()
      await pools[client % pools.length]?.request(frame, 60_000)
      each.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => loop(client, 20)))
  each.length = 0
  const started = performance.now()
  await Promise.all(Array.from({ length: clients }, (_, client) => loop(client, REQUESTS / clients)))
  const all = performance.now() - started
  for (const pool of pools) await pool.close()
  return { all, each }
}

async function start(...args: string[]): Promise<[ChildProcess, number]> {
  const child = fork(self, args)
  const [port] = await once(child, 'message')
  return [child, Number(port)]
}

async function runServer(rounds: number): Promise<void> {
  const server = await serveRequests(transport, { host: '127.0.0.1', port: 0 })
  server.serve(work(rounds))
  process.send?.(server.port)
}

async function runDevice(backend: string): Promise<void> {
  const front = await transport.openRequestPort({ host: '127.0.0.1', port: 0 })
  await openProxy({
    fronts: [front],
    backend,
    refusal: Buffer.alloc(0),
  })
  process.send?.(front.port)
}

async function runWorker(backend: string, name: string, rounds: number): Promise<void> {
  const worker = await openWorker({ backend, name })
  worker.serve(work(rounds))
  process.send?.(0)
}

const [, , role, ...given] = process.argv
if (role === 'worker') await runWorker(String(given[0]), String(given[1]), Number(given[2]))
else if (role === 'server') await runServer(Number(given[0]))
else if (role === 'device') await runDevice(String(given[0]))
else await runAll()
