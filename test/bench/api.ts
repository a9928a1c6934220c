/**
 * `npm run bench:api -- [--waits 2000] [--readers 200] [--frozen 20] [--seconds 20] [--events 500] [--write]`
 *
 * `salt-api` beside a master of ours while many clients wait for jobs of simulated minions that answer late, many read
 * all events, and some of those have stopped reading: how fast it answers `/livez`, what it takes, what it delivers. Before that, what
 * single requests take.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bin } from '../harness/daemons.ts'
import { freePort } from '../harness/ports.ts'
import { until } from '../harness/until.ts'
import type { Times } from './api-probe.ts'
import { startOurs } from './masters.ts'
import { openFleet } from './measure.ts'
import { median } from './median.ts'
import { usageOf } from './processes.ts'
import { EventBus, loadMasterConfig, masterEventSockets } from './product.ts'
import { table } from './table.ts'

const { values: options } = parseArgs({
  options: {
    waits: { type: 'string', default: '2000' },
    readers: { type: 'string', default: '200' },
    frozen: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '20' },
    events: { type: 'string', default: '500' },
    write: { type: 'boolean', default: false },
  },
})
const waits = Number(options.waits)
const readers = Number(options.readers)
const frozen = Number(options.frozen)
const seconds = Number(options.seconds)
const eventsPerSecond = Number(options.events)

const MINIONS = 20
const USER = { username: 'bench', password: 'bench', eauth: 'auto' }
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

interface Answer {
  readonly status: number
  readonly body: string
}

function ask(port: number, path: string, body?: object, token?: string): Promise<Answer> {
  const headers = {
    ...(body && { 'Content-Type': 'application/json' }),
    ...(token !== undefined && { 'X-Auth-Token': token }),
  }
  return new Promise((resolve, reject) => {
    const asking = request({ agent, port, path, method: body ? 'POST' : 'GET', headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (data) => {
        text += data
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
    })
    asking.on('error', reject).end(body && JSON.stringify(body))
  })
}

async function startApi(configDir: string, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(bin, 'salt-api'), '-c', configDir], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const isReady = async () => (await ask(port, '/readyz').catch(() => undefined))?.status === 200
  await until('salt-api', isReady)
  return child
}

interface EventReaders {
  readonly sockets: readonly Socket[]
  /** Events that have come to all of them together. */
  count: number
}

/** Some of them stop reading as soon as they are connected. */
async function openReaders(port: number, token: string): Promise<EventReaders> {
  const sockets = Array.from({ length: readers }, () => connect(port, '127.0.0.1'))
  const all: EventReaders = { sockets, count: 0 }
  const open = sockets.map(async (socket, index) => {
    socket.on('error', () => {})
    socket.write(`GET /events HTTP/1.1\r\nHost: bench\r\nX-Auth-Token: ${token}\r\n\r\n`)
    const [first] = await once(socket, 'data')
    if (!String(first).startsWith('HTTP/1.1 200')) throw new Error(`A reader was answered ${first}`)
    if (index < frozen) socket.pause()
    else
      socket.on('data', (data: Buffer) => {
        all.count += eventsIn(data)
      })
  })
  await Promise.all(open)
  return all
}

const TAG = Buffer.from('\ntag: ')
const FIRST_TAG = Buffer.from('tag: ')

/** Lines that begin an event; one cut in two is not counted. */
function eventsIn(data: Buffer): number {
  let count = data.indexOf(FIRST_TAG) === 0 ? 1 : 0
  for (let at = data.indexOf(TAG); at >= 0; at = data.indexOf(TAG, at + 1)) count++
  return count
}

async function fireEvents(configDir: string, stop: AbortSignal): Promise<void> {
  const bus = await EventBus.connect(masterEventSockets(loadMasterConfig({ configDir }).config))
  const data = { text: 'x'.repeat(500) }
  for (let n = 0; !stop.aborted; n++) {
    for (let each = 0; each < eventsPerSecond / 20; each++) await bus.fire(`bench/${n}/${each}`, data)
    await setTimeout(50)
  }
  await bus.close()
}

/** Milliseconds `/livez` takes, measured by another process: while the clients come, and while all of them wait. */
function probe(port: number): { allWait(): void; stop(): Promise<readonly Times[]> } {
  const entry = fileURLToPath(new URL('api-probe.ts', import.meta.url))
  const child = fork(entry, [String(port)], { execArgv: ['--import', 'tsx'] })
  return {
    allWait: () => void child.send('next'),
    async stop() {
      child.send('stop')
      const [times] = (await once(child, 'message')) as [readonly Times[]]
      return times
    },
  }
}

/** Resolves when the master has published a job for each client. */
async function allPublished(configDir: string): Promise<void> {
  const bus = await EventBus.connect(masterEventSockets(loadMasterConfig({ configDir }).config))
  const isNew = (tag: string) => /^salt\/job\/\d+\/new$/.test(tag)
  let count = 0
  for await (const _ of bus.subscribe(isNew)) if (++count === waits) break
  await bus.close()
}

async function waitAll(port: number, token: string): Promise<number> {
  const asked = Array.from({ length: waits }, async (_, index) => {
    const tgt = `sim-${index % MINIONS}`
    const chunk = { client: 'local', tgt, fun: 'test.sleep', arg: [seconds], timeout: 4 * seconds }
    const { status, body } = await ask(port, '/', [chunk], token)
    return status === 200 && body.includes(`"${tgt}": true`)
  })
  return (await Promise.all(asked)).filter(Boolean).length
}

const IDLE_ROUNDS = 30
const IDLE_PAUSE_MS = 300

/** Median milliseconds of a request while nothing else happens. The first few, which start processes, are left out. */
async function timeIdle(act: () => Promise<Answer>): Promise<number> {
  const times: number[] = []
  for (let round = -5; round < IDLE_ROUNDS; round++) {
    const start = performance.now()
    const { status, body } = await act()
    if (status !== 200) throw new Error(`It was answered ${status}: ${body}`)
    if (round >= 0) times.push(performance.now() - start)
    await setTimeout(IDLE_PAUSE_MS)
  }
  return median(times)
}

const port = await freePort()
const master = await startOurs({
  external_auth: { auto: { bench: ['.*', '@runner', '@wheel'] } },
  netapi_enable_clients: ['local', 'runner', 'wheel'],
  api: { start: false, port, host: '127.0.0.1', disable_ssl: true, collect_stats: true },
})
const fleet = await openFleet(master, MINIONS, 1)
const api = await startApi(master.configDir, port)
try {
  const { body } = await ask(port, '/login', USER)
  const { token } = JSON.parse(body).return[0] as { token: string }
  const single = {
    '`GET /keys`': await timeIdle(() => ask(port, '/keys', undefined, token)),
    'a runner (`test.arg`)': await timeIdle(() =>
      ask(port, '/', [{ client: 'runner', fun: 'test.arg' }], token),
    ),
    'a wheel function (`key.list_all`)': await timeIdle(() =>
      ask(port, '/', [{ client: 'wheel', fun: 'key.list_all' }], token),
    ),
  }
  const memory = () => usageOf(api.pid as number).privateBytes / 1e6
  const rest = memory()
  const all = await openReaders(port, token)
  const firing = new AbortController()
  const fired = fireEvents(master.configDir, firing.signal)
  const livez = probe(port)
  let peak = 0
  const sampling = setInterval(() => {
    peak = Math.max(peak, memory())
  }, 500)
  const before = { count: all.count, at: performance.now(), cpu: usageOf(api.pid as number).cpuSeconds }
  void allPublished(master.configDir).then(livez.allWait)
  const answered = await waitAll(port, token)
  const took = (performance.now() - before.at) / 1000
  const delivered = (all.count - before.count) / took
  const cpu = ((usageOf(api.pid as number).cpuSeconds - before.cpu) / took) * 100
  clearInterval(sampling)
  const [coming = [], waiting = []] = await livez.stop()
  firing.abort()
  await fired
  const { body: figures } = await ask(port, '/stats', undefined, token)
  const { dropped } = JSON.parse(figures)['Event readers'] as { dropped: number }
  const quantile = (times: Times, q: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * q))]?.toFixed(1) ?? ''
  const text = [
    '# salt-api',
    '',
    'Written by `npm run bench:api -- --write`; one run. All clients and the simulated minions are on the same machine.',
    '',
    `${waits} clients wait for jobs that take ${seconds} s; ${readers} readers of all events, ${frozen} of which do not read;`,
    `${eventsPerSecond} events of 500 bytes a second besides those of the jobs; ${cpus().length} cores.`,
    '',
    ...table([
      ['', 'salt-ts', 'aim'],
      ...Object.entries(single).map(([what, ms]) => [`${what} while idle, ms`, ms.toFixed(1), '≤ 30']),
      ['waits answered with the return', `${answered} of ${waits}`, 'all'],
      ['`/livez` while all wait, p50, ms', quantile(waiting, 0.5), ''],
      ['`/livez` while all wait, p99, ms', quantile(waiting, 0.99), '< 100'],
      ['`/livez` while all wait, slowest, ms', quantile(waiting, 1), ''],
      ['`/livez` while all come at once, p50, ms', quantile(coming, 0.5), ''],
      ['`/livez` while all come at once, slowest, ms', quantile(coming, 1), '≤ 500'],
      ['seconds until all wait', (coming.length / 50).toFixed(1), ''],
      ['events delivered per second, all readers', delivered.toFixed(0), ''],
      ['readers dropped', String(dropped), `≤ ${frozen}`],
      ['private memory of salt-api, signed in, MB', rest.toFixed(0), ''],
      ['private memory, most, MB', peak.toFixed(0), ''],
      ['processor time of salt-api, % of one core', cpu.toFixed(0), ''],
    ]),
    '',
  ].join('\n')
  process.stdout.write(text)
  if (options.write) await writeFile(new URL('api.md', import.meta.url), text)
  for (const socket of all.sockets) socket.destroy()
} finally {
  agent.destroy()
  api.kill('SIGTERM')
  await once(api, 'exit')
  fleet.close()
  await master.close()
}
