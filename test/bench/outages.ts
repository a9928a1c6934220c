/**
 * `npm run bench:outages -- [--outages 20] [--longest 60] [--most 720] [--write]`
 *
 * Three masters at once, with PostgreSQL, MariaDB and Redis as `master_job_cache`. The server of each goes away again and
 * again, in turns in each of the ways of `ways`, while 10,000 returns come in. Prints whether there is a row for each
 * return, and the memory of the masters. `--longest`: seconds of an outage; `--most`: seconds of all of them.
 */
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openProxy, type TcpProxy } from '../harness/proxy.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { startOurs } from './masters.ts'
import { openFleet } from './measure.ts'
import { type OwnStore, ownStores } from './own-stores.ts'
import { usagesOf } from './processes.ts'
import { LocalClient, loadMasterConfig } from './product.ts'
import { table } from './table.ts'

const { values: options } = parseArgs({
  options: {
    outages: { type: 'string', default: '20' },
    longest: { type: 'string', default: '60' },
    most: { type: 'string', default: '660' },
    write: { type: 'boolean', default: false },
  },
})

/** All but one are simulated. */
const MINIONS = 100
const JOBS = 100
const RETURNS = MINIONS * JOBS
/** Between two outages, seconds. */
const BETWEEN = 2
const PATIENCE_MS = 180_000

/** How a store goes away, and comes back. */
interface Way {
  away(place: Place): Promise<void>
  back(place: Place): Promise<void>
}

interface Place {
  readonly store: OwnStore
  readonly port: number
  proxy: TcpProxy
  /** Of a refusal. */
  end?: () => Promise<unknown>
}

const ways: Record<string, Way> = {
  'killed (kill -9)': {
    away: ({ store }) => store.server.kill(),
    back: ({ store }) => store.server.start(),
  },
  'stopped (SIGSTOP)': {
    away: ({ store }) => store.server.pause(),
    back: async ({ store }) => store.server.resume(),
  },
  'cut off (connections refused)': {
    away: ({ proxy }) => proxy.close(),
    back: async (place) => {
      place.proxy = await openProxy(targetOf(place.store), place.port)
    },
  },
  'half-open (connections that are up and dead)': {
    away: async ({ proxy }) => proxy.freeze(),
    back: async () => {},
  },
  'slow (1 s in each direction)': {
    away: async ({ proxy }) => proxy.slow(1000),
    back: async ({ proxy }) => proxy.slow(0),
  },
  'full (read-only, locked, no memory)': {
    away: async (place) => {
      place.end = await place.store.refuse()
    },
    back: async ({ end }) => void (await end?.()),
  },
}

const targetOf = ({ server }: OwnStore) => ({ host: '127.0.0.1', port: server.port })

/** Seconds of each outage: random, and scaled down where they would be too many in all. */
function lengths(): number[] {
  const each = Array.from(
    { length: Number(options.outages) },
    () => 1 + Math.random() * (Number(options.longest) - 1),
  )
  const all = each.reduce((sum, one) => sum + one, 0)
  const rest = Math.max(1, Number(options.most) - each.length * BETWEEN)
  return all <= rest ? each : each.map((one) => Math.max(1, (one * rest) / all))
}

interface Outcome {
  readonly name: string
  readonly acknowledged: number
  readonly rows: { readonly all: number; readonly different: number }
  readonly failedJobs: number
  /** Seconds from the end of the last outage until there was a row for each return. */
  readonly caughtUp: number
  /** RSS of all processes of the master together: at the start, the most, at the end. Megabytes. */
  readonly memory: readonly [start: number, most: number, end: number]
}

async function endure(name: keyof typeof ownStores, seconds: readonly number[]): Promise<Outcome> {
  const store = await ownStores[name]()
  const proxy = await openProxy(targetOf(store))
  const place: Place = { store, port: proxy.port, proxy }
  const master = await startOurs({
    master_job_cache: store.returner,
    missing_returns_after: 0,
    ...store.options(place.port),
  })
  const { config } = loadMasterConfig({ configDir: master.configDir })
  const client = await LocalClient.connect(config)
  const fleet = await openFleet(master, MINIONS - 1, 1)
  const resident = () => usagesOf(master.pid).reduce((sum, { residentBytes }) => sum + residentBytes, 0) / 1e6
  const start = resident()
  let most = start
  const watch = setInterval(() => {
    most = Math.max(most, resident())
  }, 500)
  try {
    let failedJobs = 0
    let acknowledged = 0
    const coming = async () => {
      const pause = (seconds.reduce((sum, one) => sum + one + BETWEEN, 0) * 1000) / JOBS
      for (let job = 0; job < JOBS; job++) {
        const began = performance.now()
        const returned = await returnsOf(client, { tgt: '*', fun: 'test.ping', timeout: 60 })
        const good = Object.values(returned).filter((value) => value === true).length
        acknowledged += good
        if (good !== MINIONS) failedJobs++
        if (job % 10 === 9) process.stderr.write(`${name}: ${acknowledged} returns\n`)
        await delay(Math.max(0, pause - (performance.now() - began)))
      }
    }
    const goingAway = async () => {
      const kinds = Object.entries(ways)
      for (const [index, length] of seconds.entries()) {
        const [kind, way] = kinds[index % kinds.length] as [string, Way]
        process.stderr.write(`${name}: outage ${index + 1}, ${kind}, ${length.toFixed(1)} s\n`)
        await way.away(place)
        await delay(length * 1000)
        await way.back(place)
        await delay(BETWEEN * 1000)
      }
    }
    await Promise.all([coming(), goingAway()])
    const over = performance.now()
    process.stderr.write(`${name}: the last outage is over\n`)
    let rows = await store.rows()
    while (rows.all < RETURNS && performance.now() - over < PATIENCE_MS) {
      await delay(200)
      rows = await store.rows()
    }
    const caughtUp = (performance.now() - over) / 1000
    await delay(BETWEEN * 1000) // for rows that should not come
    rows = await store.rows()
    return { name, acknowledged, rows, failedJobs, caughtUp, memory: [start, most, resident()] }
  } finally {
    clearInterval(watch)
    fleet.close()
    await client.close()
    await master.close()
    await place.proxy.close().catch(() => undefined)
    await store.drop()
  }
}

function report(outcomes: readonly Outcome[], seconds: readonly number[]): string {
  const [least, most] = [Math.min(...seconds), Math.max(...seconds)]
  const all = seconds.reduce((sum, one) => sum + one, 0)
  const row = (says: string, figure: (outcome: Outcome) => string | number) => [
    says,
    ...outcomes.map((outcome) => String(figure(outcome))),
  ]
  return [
    '# Outages of stores',
    '',
    'Written by `npm run bench:outages -- --write`.',
    `Three masters at once, each with a store as \`master_job_cache\` that goes away ${seconds.length} times for ${least.toFixed(0)} to`,
    `${most.toFixed(0)} s (${all.toFixed(0)} s in all), in turns: ${Object.keys(ways).join(', ')}. Meanwhile ${JOBS} jobs are published to`,
    `${MINIONS} minions (simulated but one), which return all of them; ${cpus().length} cores.`,
    '',
    ...table([
      ['', ...outcomes.map(({ name }) => name)],
      row('returns that the client received', ({ acknowledged }) => acknowledged),
      row('rows', ({ rows }) => rows.all),
      row('rows that are there twice', ({ rows }) => rows.all - rows.different),
      row('jobs that failed', ({ failedJobs }) => failedJobs),
      row('s until all rows were there, after the last outage', ({ caughtUp }) => caughtUp.toFixed(1)),
      row('RSS of all processes of the master at the start, MB', ({ memory }) => memory[0].toFixed(0)),
      row('at most, MB', ({ memory }) => memory[1].toFixed(0)),
      row('at the end, MB', ({ memory }) => memory[2].toFixed(0)),
    ]),
    '',
  ].join('\n')
}

const seconds = lengths()
const names = ['postgres', 'mysql', 'redis'] as const
const outcomes = await Promise.all(names.map((name) => endure(name, seconds)))
const text = report(outcomes, seconds)
process.stdout.write(text)
if (options.write) await writeFile(new URL('outages.md', import.meta.url), text)
const isWrong = ({ rows, failedJobs }: Outcome) =>
  rows.all !== RETURNS || rows.different !== RETURNS || failedJobs > 0
process.exitCode = outcomes.some(isWrong) ? 1 : 0
