/** Servers of stores that a bench starts for itself, with the durability their makers recommend. */
import { Redis } from 'ioredis'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import pg from 'pg'
import { startMysql } from '../harness/mysql-server.ts'
import { PASSWORD, startPostgres } from '../harness/postgres-server.ts'
import { returnerWith } from '../harness/returner.ts'
import { startServer, type TestServer } from '../harness/server.ts'

export interface OwnStore {
  /** As `master_job_cache` names it. */
  readonly returner: string
  readonly server: TestServer
  /** Of a master that finds it at this port of this host. */
  options(port: number): Record<string, unknown>
  /** How many returns it has, and of how many pairs of job and minion. Rejects while it is away. */
  rows(): Promise<{ readonly all: number; readonly different: number }>
  /** From now on nothing can be written to it, as where it is full or locked. Gives what ends that. */
  refuse(): Promise<() => Promise<unknown>>
  drop(): Promise<void>
}

const HOST = '127.0.0.1'
const ROWS = 'select count(*) as rows_, count(distinct jid, id) as pairs from salt_returns'

async function postgres(): Promise<OwnStore> {
  const server = await startPostgres()
  const login = { host: HOST, port: server.port, user: 'postgres', password: PASSWORD, database: 'postgres' }
  const { user, password: passwd, database: db } = login
  return migrated({
    returner: 'postgres',
    server,
    options: (port) => ({ 'returner.postgres': { host: HOST, port, user, passwd, db } }),
    async rows() {
      const client = new pg.Client({ ...login, connectionTimeoutMillis: 2000, query_timeout: 5000 })
      client.on('error', () => undefined)
      await client.connect()
      const { rows } = await client
        .query(ROWS.replace('distinct jid, id', 'distinct (jid, id)'))
        .finally(() => client.end())
      return { all: Number(rows[0].rows_), different: Number(rows[0].pairs) }
    },
    refuse: () => readOnly(login),
    drop: () => server.drop(),
  })
}

/** PostgreSQL's own sessions too, from their next transaction on. */
async function readOnly(login: pg.ClientConfig): Promise<() => Promise<unknown>> {
  const client = new pg.Client(login)
  await client.connect()
  const apply = async (setting: string) => {
    await client.query(`alter system ${setting}`)
    await client.query('select pg_reload_conf()')
  }
  await apply('set default_transaction_read_only = on')
  return async () => {
    await apply('reset default_transaction_read_only')
    await client.end()
  }
}

async function mysql(): Promise<OwnStore> {
  const server = await startMysql()
  const login = { host: HOST, port: server.port, user: 'root' }
  return migrated({
    returner: 'mysql',
    server,
    options: (port) => ({ mysql: { host: HOST, port, user: 'root', pass: '', db: 'salt' } }),
    async rows() {
      const client = await createConnection({ ...login, database: 'salt', connectTimeout: 2000 })
      const [rows] = await client
        .query<RowDataPacket[]>({ sql: ROWS, timeout: 5000 })
        .finally(() => client.destroy())
      return { all: Number(rows[0]?.rows_), different: Number(rows[0]?.pairs) }
    },
    async refuse() {
      const client = await createConnection(login)
      await client.query('flush tables with read lock')
      return () => client.end()
    },
    drop: () => server.drop(),
  })
}

async function redis(): Promise<OwnStore> {
  const server = await startServer('redis-server', ({ port, folder }) => [
    ...['--port', `${port}`, '--dir', folder, '--bind', HOST, '--save', ''],
    ...['--appendonly', 'yes', '--appendfsync', 'always'],
  ])
  return {
    returner: 'redis',
    server,
    options: (port) => ({ redis: { host: HOST, port } }),
    async rows() {
      const client = new Redis(server.port, HOST, { retryStrategy: () => null, commandTimeout: 5000 })
      client.on('error', () => undefined)
      try {
        const keys = await client.keys('ret:*')
        const lengths = await Promise.all(keys.map((key) => client.hlen(key)))
        const all = lengths.reduce((sum, length) => sum + length, 0)
        return { all, different: all }
      } finally {
        client.disconnect()
      }
    },
    async refuse() {
      const client = new Redis(server.port, HOST)
      await client.config('SET', 'maxmemory', 1)
      return async () => {
        await client.config('SET', 'maxmemory', 0)
        client.disconnect()
      }
    },
    drop: () => server.drop(),
  }
}

async function migrated(store: OwnStore): Promise<OwnStore> {
  const returner = await returnerWith(store.returner, store.options(store.server.port))
  await returner.migrate?.()
  await returner.close?.()
  return store
}

export const ownStores = { postgres, mysql, redis } as const
