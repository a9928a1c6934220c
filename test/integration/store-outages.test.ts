/** A store that goes down repeatedly while returns come in has each of them once in the end. */
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { JobCache } from '../../core/jobs/job-cache.ts'
import { openLoader } from '../../core/loader/index.ts'
import { ReturnerWriter } from '../../core/outbox/returner-writer.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { quietLog } from '../harness/log.ts'
import { mysqlDatabase } from '../harness/mysql-database.ts'
import { mysqlHere, needs, postgresHere, program } from '../harness/needs.ts'
import { postgresDatabase } from '../harness/postgres-database.ts'
import { openProxy } from '../harness/proxy.ts'
import { returnerWith } from '../harness/returner.ts'
import { startServer } from '../harness/server.ts'
import { until } from '../harness/until.ts'

interface Store {
  readonly name: string
  readonly port: number
  /** Of the returner, by way of that port. */
  config(port: number): Record<string, unknown>
  /** How many rows there are, and of how many minions. */
  count(jid: string): Promise<{ rows: number; minions: number }>
  drop(): Promise<void>
}

async function postgres(): Promise<Store> {
  const { client, config, drop } = await postgresDatabase('returner.postgres')
  return {
    name: 'postgres',
    port: 5432,
    config: (port) => ({ ...config, 'returner.postgres.port': port }),
    async count(jid) {
      const sql =
        'select count(*)::int as rows, count(distinct id)::int as minions from salt_returns where jid = $1'
      return (await client.query(sql, [jid])).rows[0]
    },
    drop,
  }
}

async function mysql(): Promise<Store> {
  const { query, config, drop } = await mysqlDatabase()
  return {
    name: 'mysql',
    port: 3306,
    config: (port) => ({ mysql: { ...(config.mysql as object), port } }),
    async count(jid) {
      const sql = 'select count(*) as rows_, count(distinct id) as minions from salt_returns where jid = ?'
      const [{ rows_, minions }] = (await query(sql, [jid])) as [{ rows_: number; minions: number }]
      return { rows: Number(rows_), minions: Number(minions) }
    },
    drop,
  }
}

async function redis(): Promise<Store> {
  const server = await startServer('redis-server', ({ port, folder }) => [
    ...['--port', `${port}`, '--dir', folder, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
  ])
  const client = new Redis(server.port, '127.0.0.1')
  return {
    name: 'redis',
    port: server.port,
    config: (port) => ({ redis: { host: '127.0.0.1', port } }),
    async count(jid) {
      const rows = await client.hlen(`ret:${jid}`)
      return { rows, minions: rows }
    },
    async drop() {
      client.disconnect()
      await server.drop()
    },
  }
}

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-outages-')
})
afterEach(() => removeFolder(folder))

const JID = '20300101000000000000'
const RETURNS = 10_000
const OUTAGES = 20

const STORES = [
  ['PostgreSQL', await postgresHere(), postgres],
  ['MariaDB', await mysqlHere(), mysql],
  ['Redis', program('redis-server'), redis],
] as const

for (const [what, need, open] of STORES)
  test(
    `${RETURNS} returns while ${what} goes away ${OUTAGES} times: as many rows, none twice`,
    needs(need),
    async () => {
      const store = await open()
      let proxy = await openProxy({ host: '127.0.0.1', port: store.port })
      const { port } = proxy
      const config = store.config(port)
      const direct = await returnerWith(store.name, store.config(store.port))
      await direct.migrate?.()
      await direct.close?.()

      const jobs = JobCache.open(folder, { sinks: [store.name], onQueued: () => writer.wake() })
      const states: string[] = []
      const writer: ReturnerWriter = new ReturnerWriter({
        name: store.name,
        outboxes: [jobs.outbox],
        host: { loader: openLoader('returners', { config, log: quietLog }), config, log: quietLog },
        log: quietLog,
        retry: { minMs: 10, maxMs: 100 },
        keepMs: 0,
        timeoutMs: 60_000,
        onState: ({ state }) => states.push(state),
      })
      try {
        await jobs.create(JID, { fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', user: 'root' }, [])
        const coming = comeIn(jobs)
        for (let outage = 0; outage < OUTAGES; outage++) {
          await delay(Math.random() * 150) // a moment nobody chose
          await proxy.close() // also in the middle of a batch
          await delay(Math.random() * 150)
          proxy = await openProxy({ host: '127.0.0.1', port: store.port }, port)
        }
        await coming
        await until('the outbox to be empty', () => jobs.outbox.targets().length === 0)
        expect(await store.count(JID)).toEqual({ rows: RETURNS, minions: RETURNS })
        expect(jobs.outbox.counts(store.name)).toEqual({ queued: 0, dead: 0 })
        expect(states.filter((state) => state === 'down').length).toBeGreaterThan(0)
      } finally {
        await writer.close()
        await jobs.close()
        await proxy.close()
        await store.drop()
      }
    },
  )

/** As fast as the job cache takes them, a hundred at once. */
async function comeIn(jobs: JobCache): Promise<void> {
  for (let first = 0; first < RETURNS; first += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, n) => {
        const id = `m${first + n}`
        const ret = { id, jid: JID, fun: 'test.ping', fun_args: [], return: true, retcode: 0, success: true }
        return jobs.saveReturn(JID, id, ret)
      }),
    )
    await delay(20)
  }
}
