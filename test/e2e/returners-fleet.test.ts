/** One job of two minions goes to every store there is, and each is read by a client of its own. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decode } from '@msgpack/msgpack'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { FLEET_STORES, type FleetStore } from '../harness/fleet-stores.ts'
import { needs } from '../harness/needs.ts'
import { returnerWith } from '../harness/returner.ts'
import { until } from '../harness/until.ts'

const IDS = ['web1', 'web2']
const present = Object.keys(FLEET_STORES).filter((name) =>
  FLEET_STORES[name]!.needs.every(({ isMet }) => isMet),
)

const stores = new Map<string, FleetStore>()
let cluster: Cluster
let jid: string

beforeAll(async () => {
  await Promise.all(
    present.map(async (name) => {
      const store = await FLEET_STORES[name]?.open()
      if (!store) return
      stores.set(name, store)
      const returner = await returnerWith(name, store.config)
      await returner.migrate?.()
      await returner.close?.()
    }),
  )
  const config = Object.assign({}, ...[...stores.values()].map((store) => store.config))
  cluster = await Cluster.open({ minions: IDS, minion: { ...config, outbox_retry_timer_max: 5 } })
  const to = ['--return', [...present, 'local_cache'].join(','), '--show-jid']
  const { stdout, stderr, code } = await cluster.spawned('salt', '*', 'test.echo', 'hello', ...to)
  expect([stderr, code]).toEqual(['', 0])
  jid = /\d{20}/.exec(stdout)?.[0] ?? ''
})
afterAll(async () => {
  await cluster?.close()
  await Promise.all([...stores.values()].map((store) => store.drop()))
})

const all = Object.fromEntries(IDS.map((id) => [id, 'hello']))

for (const [name, store] of Object.entries(FLEET_STORES))
  test(`${name} has the returns of all minions`, needs(...store.needs), async () => {
    let found: unknown
    await until(
      () => `two returns in ${name}; last seen: ${String(found)} ${JSON.stringify(found)}`,
      async () => {
        found = await stores
          .get(name)
          ?.read(jid, IDS)
          .catch((error: unknown) => error)
        return !(found instanceof Error) && Object.keys(found as object).length === IDS.length
      },
    )
    expect(found).toEqual(all)
  })

test('local_cache of each minion has its return in the file Salt reads', async () => {
  const hash = createHash('sha256').update(jid).digest('hex')
  const read = async (id: string) =>
    decode(
      await readFile(
        join(cluster.root, id, 'cache', 'jobs', hash.slice(0, 2), hash.slice(2), id, 'return.p'),
      ),
    )
  for (const id of IDS) {
    const found = await until('the return', () => read(id).catch(() => undefined))
    expect(found).toMatchObject({ return: 'hello', retcode: 0, success: true })
  }
})
