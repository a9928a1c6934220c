import { randomUUID } from 'node:crypto'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'

/** A database of its own on this machine's MariaDB or MySQL, and a user who owns it. */
interface MysqlDatabase {
  query(sql: string, values?: readonly string[]): Promise<readonly unknown[]>
  /** With which a returner finds it. */
  readonly config: Readonly<Record<string, unknown>>
  drop(): Promise<void>
}

const SERVER = { host: '127.0.0.1', port: 3306, connectTimeout: 5000 }

/** Rejects if there is no server. */
export async function mysqlDatabase(): Promise<MysqlDatabase> {
  const name = `salt_ts_${randomUUID().replaceAll('-', '').slice(0, 20)}`
  const client: Connection = await createConnection({ ...SERVER, user: 'root' })
  await client.query(`create database ${name}`)
  await client.query(`create user ${name} identified by 'its password'`)
  await client.query(`grant all on ${name}.* to ${name}`)
  await client.query(`use ${name}`)
  return {
    query: async (sql, values = []) =>
      (await client.query<RowDataPacket[]>(sql, [...values])).at(0) as RowDataPacket[],
    config: { mysql: { host: SERVER.host, port: SERVER.port, user: name, pass: 'its password', db: name } },
    async drop() {
      await client.query(`drop database ${name}`)
      await client.query(`drop user ${name}`)
      await client.end()
    },
  }
}
