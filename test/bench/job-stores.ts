/** Masters whose jobs go to a store outside, beside one that has the embedded store alone. */
import { setTimeout as delay } from 'node:timers/promises'
import { returnsOf } from '../harness/returns-of.ts'
import type { Fleet } from './fleet.ts'
import { startOurs } from './masters.ts'
import { add, type Measured, measureReturns, openFleet } from './measure.ts'
import { type OwnStore, ownStores } from './own-stores.ts'
import { LocalClient, loadMasterConfig } from './product.ts'

export interface Load {
  readonly minions: number
  readonly jobs: number
  readonly bytes: number
  readonly atOnce: number
  readonly rounds: number
}

/** One of them: `store` is undefined for the embedded one alone. */
interface Subject {
  readonly measured: Measured
  readonly fleet: Fleet
  readonly store: OwnStore | undefined
}

const SAMPLES = 20
const PROCESSES = 2

/** The first is the embedded one. Figures: `returns`, `return cpu`, `behind`, `delay`. */
export async function measureStores(
  names: readonly (keyof typeof ownStores)[],
  load: Load,
): Promise<Measured[]> {
  const subjects: Subject[] = []
  try {
    for (const name of [undefined, ...names]) subjects.push(await open(name, load.minions))
    for (let round = 0; round < load.rounds; round++)
      for (const subject of subjects) await measureRound(subject, load)
    for (const subject of subjects) await measureDelay(subject)
    return subjects.map(({ measured }) => measured)
  } finally {
    for (const { measured, fleet, store } of subjects) {
      fleet.close()
      await measured.master.close()
      await store?.drop()
    }
  }
}

async function open(name: keyof typeof ownStores | undefined, minions: number): Promise<Subject> {
  const store = name && (await ownStores[name]())
  const options = store ? { master_job_cache: store.returner, ...store.options(store.server.port) } : {}
  const master = { ...(await startOurs({ missing_returns_after: 0, ...options })), name: name ?? 'embedded' }
  return {
    store,
    fleet: await openFleet(master, minions, PROCESSES),
    measured: { master, figures: new Map() },
  }
}

async function measureRound({ measured, fleet, store }: Subject, load: Load): Promise<void> {
  const before = (await store?.rows())?.all ?? 0
  const settled = async () => {
    const ended = performance.now()
    if (store) await reached(store, before + load.minions * load.jobs)
    add(measured, 'behind', performance.now() - ended)
  }
  await measureReturns(measured, fleet, load, { settled })
}

/** From the return of a minion, as a client hears of it, to its row. */
async function measureDelay({ measured, store }: Subject): Promise<void> {
  if (!store) return
  const client = await LocalClient.connect(loadMasterConfig({ configDir: measured.master.configDir }).config)
  for (let sample = 0; sample < SAMPLES; sample++) {
    const { all } = await store.rows()
    await returnsOf(client, { tgt: 'sim-0', fun: 'test.ping', timeout: 60 })
    const returned = performance.now()
    await reached(store, all + 1)
    add(measured, 'delay', performance.now() - returned)
  }
  await client.close()
}

async function reached(store: OwnStore, rows: number): Promise<void> {
  while ((await store.rows()).all < rows) await delay(2)
}
