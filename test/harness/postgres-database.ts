import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** A database of its own on this machine's PostgreSQL, which takes every password. */
interface PostgresDatabase {
  readonly client: pg.Client
  /** With which a returner finds it; `prefix`: what its keys begin with. */
  readonly config: Readonly<Record<string, unknown>>
  drop(): Promise<void>
}

const SERVER = { host: '127.0.0.1', port: 5432, user: 'postgres', connectionTimeoutMillis: 5000 }

/** Rejects if there is no server. */
export async function postgresDatabase(prefix: string): Promise<PostgresDatabase> {
  const database = `salt_ts_${randomUUID().replaceAll('-', '')}`
  await onServer(`create database ${database}`)
  const client = new pg.Client({ ...SERVER, database })
  await client.connect()
  return {
    client,
    config: {
      [`${prefix}.host`]: SERVER.host,
      [`${prefix}.port`]: SERVER.port,
      [`${prefix}.user`]: SERVER.user,
      [`${prefix}.db`]: database,
    },
    async drop() {
      await client.end()
      await onServer(`drop database ${database} with (force)`)
    },
  }
}

async function onServer(sql: string): Promise<void> {
  const client = new pg.Client({ ...SERVER, database: 'postgres' })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}
