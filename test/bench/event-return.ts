/** A real master with `event_return: postgres`, and more events than it can take for some time. */
import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Cluster } from '../harness/daemons.ts'
import { postgresDatabase } from '../harness/postgres-database.ts'
import type { Firing } from './event-source.ts'
import { cpuSeconds, type ProcessUsage, usageOf, usagesOf } from './processes.ts'
import { masterEventSockets } from './product.ts'

/** How it stood at a time. */
interface Moment {
  /** Since the first event. */
  readonly seconds: number
  readonly fired: number
  readonly rows: number
  readonly usages: readonly ProcessUsage[]
}

export interface EventFigures {
  /** Rows per second while events were fired, and until the last of them was there. */
  readonly sustained: number
  readonly overall: number
  readonly moments: readonly Moment[]
  /** For each event, microseconds: of the master, and of PostgreSQL. */
  readonly masterCpu: number
  readonly storeCpu: number
}

type Database = Awaited<ReturnType<typeof postgresDatabase>>['client']

const LOOK_MS = 1000
/** The first seconds are not counted: programs get warm. */
const WARM_S = 5
/** So long without a new row means that no more will come. */
const PATIENCE_S = 30
const ROWS = 'select case when is_called then last_value else 0 end as number from seq_salt_events_id'
const BACKENDS = `select pid as number from pg_stat_activity
  where application_name = 'salt-ts' and datname = current_database()`

/** Throws unless each event is there once, and as it was fired. */
export async function measureEvents(perSecond: number, seconds: number): Promise<EventFigures> {
  const store = await postgresDatabase('returner.postgres')
  const cluster = await Cluster.open({ master: { event_return: ['postgres'], ...store.config } })
  try {
    const { code, stderr } = await cluster.command('salt-run', 'returner.migrate', 'postgres')
    if (code !== 0) throw new Error(stderr)
    const { pid } = cluster.master
    const before = usageOf(pid).cpuSeconds
    const all = perSecond * seconds
    const firing = { pullPath: masterEventSockets(cluster.config).pullPath, perSecond, seconds }
    const moments = await watch(firing, all, store.client, pid)
    await checkContent(store.client, all)
    const backends = await numbers(store.client, BACKENDS)
    const storeCpu = backends.reduce((sum, backend) => sum + cpuSeconds(backend), 0)
    return {
      ...speed(moments, all),
      moments,
      masterCpu: ((usageOf(pid).cpuSeconds - before) / all) * 1e6,
      storeCpu: (storeCpu / all) * 1e6,
    }
  } finally {
    await cluster.close()
    await store.drop()
  }
}

/** Fires, and looks once a second until all rows are there. */
async function watch(firing: Firing, all: number, client: Database, pid: number): Promise<Moment[]> {
  const [before = 0] = await numbers(client, ROWS)
  const source = fire(firing)
  const began = performance.now()
  const moments: Moment[] = []
  for (let moved = 0; ; await delay(LOOK_MS)) {
    const [now = 0] = await numbers(client, ROWS)
    const seconds = (performance.now() - began) / 1000
    const rows = now - before
    if (rows !== moments.at(-1)?.rows) moved = seconds
    moments.push({ seconds, fired: source.fired, rows, usages: usagesOf(pid) })
    if (rows >= all || seconds - moved > PATIENCE_S) return moments
  }
}

function speed(moments: readonly Moment[], all: number): { sustained: number; overall: number } {
  const during = moments.filter(({ fired, seconds }) => fired < all && seconds > WARM_S)
  const [first, last] = [during[0], during.at(-1)]
  const sustained = first && last ? (last.rows - first.rows) / (last.seconds - first.seconds) : Number.NaN
  return { sustained, overall: all / (moments.at(-1)?.seconds ?? Number.NaN) }
}

function fire(firing: Firing): { readonly fired: number } {
  const entry = fileURLToPath(new URL('event-source.ts', import.meta.url))
  const child: ChildProcess = fork(entry, { execArgv: ['--import', 'tsx'] })
  const state = { fired: 0 }
  child.on('message', (message: { fired: number }) => Object.assign(state, message))
  child.send(firing)
  return state
}

const numbers = async (client: Database, sql: string): Promise<number[]> =>
  (await client.query<{ number: string }>(sql)).rows.map(({ number }) => Number(number))

async function checkContent(client: Database, all: number): Promise<void> {
  const found = `from (select data::json as event from salt_events where tag like 'salt/job/20300101000000000000/ret/%') as found`
  const right = `event->>'return' = repeat(md5(event->>'n'), 10)`
  const count = async (counted: string) => (await numbers(client, `select ${counted} as number ${found}`))[0]
  const there = await count('count(*)')
  const different = await count(`count(distinct event->>'n')`)
  const whole = await count(`count(*) filter (where ${right})`)
  if (there === all && different === all && whole === all) return
  throw new Error(
    `Of ${all} events there are ${there}, ${different} different ones, ${whole} as they were fired.`,
  )
}
