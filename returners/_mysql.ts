/** Connections to MySQL and MariaDB. */
import { isIP } from 'node:net'
import type { Pool, PoolConnection, PoolOptions } from 'mysql2/promise'
import { type Args, p, UnsavableError } from 'salt-ts'
import { library } from './_library.ts'
import { duration, isSet, portNumber } from './_options.ts'
import type { Query, SqlDatabase } from './_sql-database.ts'
import { within } from './_store-call.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

/** Options. Times are in seconds. */
export const mysqlOptions = {
  host: p.default(p.string(), 'salt'),
  user: p.default(p.string(), 'salt'),
  pass: p.secret(p.default(p.string(), 'salt')),
  db: p.default(p.string(), 'salt'),
  port: p.default(portNumber, 3306),
  /** Used instead of host and port. */
  unix_socket: p.optional(p.string()),
  ...tlsOptions,
  /** Limit for connecting, and for each response. */
  timeout: p.default(duration, 10),
}

type Options = Args<typeof mysqlOptions>

/** Session settings: names in double quotes, no truncated values, times in UTC; no gap locks, which could deadlock writers. */
const SESSION = [
  "set session sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES', time_zone = '+00:00'",
  'set session transaction isolation level read committed',
]

/** @throws an Error with a sentence if the package mysql2 is not installed or TLS cannot be set up. */
export async function mysqlDatabase(options: Options): Promise<SqlDatabase> {
  const { createPool } = await library('mysql', 'mysql2', () => import('mysql2/promise'))
  const { host, port, user, pass, db, unix_socket, timeout } = options
  const where = `MySQL at ${isSet(unix_socket) ? unix_socket : `${host}:${port}`}`
  const ssl = await tls(options)
  const pool = createPool({
    host,
    port,
    user,
    password: pass,
    database: db,
    ...(isSet(unix_socket) && { socketPath: unix_socket }),
    ...(ssl && { ssl }),
    connectTimeout: timeout * 1000,
    connectionLimit: 4,
    maxPreparedStatements: 50,
  })
  /** The server's `max_allowed_packet` in bytes, by connection that has been set up. */
  const limits = new WeakMap<object, number>()

  async function connected<T>(seconds: number, work: (query: Query) => Promise<T>): Promise<T> {
    try {
      const connection = await connect(pool, timeout)
      try {
        const raw = connection.connection
        const limit = limits.get(raw) ?? (await setUp(queryOf(connection, timeout)))
        limits.set(raw, limit)
        const result = await work(queryOf(connection, seconds, limit))
        connection.release()
        return result
      } catch (error) {
        // The state of the connection is unknown after an error.
        connection.destroy()
        throw error
      }
    } catch (error) {
      throw asStoreError(error, where)
    }
  }

  return {
    query: (sql, values) => connected(timeout, (query) => query(sql, values)),
    transaction: (work, seconds = timeout) =>
      connected(seconds, async (query) => {
        await query('begin')
        const result = await work(query)
        await query('commit')
        await query('do release_all_locks()')
        return result
      }),
    close: () => pool.end(),
  }
}

async function connect(pool: Pool, seconds: number): Promise<PoolConnection> {
  const connection = pool.getConnection()
  return within(
    seconds,
    connection,
    () => void connection.then((late) => late.destroy()).catch(() => undefined),
  )
}

/** Set up the session and return the server's `max_allowed_packet` in bytes. */
async function setUp(query: Query): Promise<number> {
  for (const setting of SESSION) await query(setting)
  const [row] = await query('select @@max_allowed_packet as bytes')
  return Number(row?.bytes)
}

/** Return the query function of a connection. Values are sent apart from the statement. */
function queryOf(connection: PoolConnection, seconds: number, limit = Infinity): Query {
  return async (sql, values = []) => {
    const size = values.reduce<number>(
      (sum, value) => sum + Buffer.byteLength(String(value)) + 16,
      sql.length,
    )
    if (size > limit)
      throw new UnsavableError(`a statement of ${size} bytes exceeds its max_allowed_packet of ${limit}`)
    const answer = values.length > 0 ? connection.execute(sql, [...values]) : connection.query(sql)
    const [rows] = await within(seconds, answer, () => void connection.destroy())
    return Array.isArray(rows) ? (rows as Awaited<ReturnType<Query>>) : []
  }
}

async function tls(options: Options): Promise<PoolOptions['ssl']> {
  const { host, insecure } = options
  const facts = await tlsFacts(options)
  if (facts && isIP(host) && !insecure)
    throw new Error(
      `With TLS, mysql.host must be the name in the server's certificate, not the address ${host}.`,
    )
  return facts && { ...facts, verifyIdentity: !insecure }
}

/** Error numbers about a value: too long, not in the column's character set, out of range, packet too large. */
const UNSAVABLE = [1406, 1366, 1264, 1153]
const NO_SUCH_TABLE = 1146

function asStoreError(error: unknown, where: string): Error {
  const { message, code, errno = 0, errors } = error as AggregateError & { code?: string; errno?: number }
  const text = `${where}: ${message || errors?.map((each) => each.message).join(', ') || code}`
  if (UNSAVABLE.includes(errno) || error instanceof UnsavableError)
    return new UnsavableError(text, { cause: error })
  const hint = errno === NO_SUCH_TABLE ? '. Tables are created by: salt-run returner.migrate mysql' : ''
  return new Error(`${text}${hint}`, { cause: error })
}
