/** A SQLite database: one file, locked while another process writes to it. */
import { open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from 'libsql'
import { UnsavableError } from 'salt-ts'
import { library } from './_library.ts'
import type { Query, SqlDatabase, SqlRow } from './_sql-database.ts'

/** Delay between attempts on a locked file. */
const RETRY_MS = 20

type Connection = Database

/**
 * Open a database. `seconds` limits the wait for a lock. `prepare` runs on each new connection.
 * @throws an Error with a sentence if the package libsql is not installed.
 */
export async function sqliteDatabase(
  file: string,
  seconds: number,
  prepare: (database: Pick<SqlDatabase, 'transaction'>) => Promise<unknown>,
): Promise<SqlDatabase> {
  const { default: Sqlite } = await library('sqlite3', 'libsql', () => import('libsql'))
  let connection: Connection | undefined
  /** The work in progress: there is one connection, and it has one transaction at a time. */
  let last: Promise<unknown> = Promise.resolve()

  async function connect(): Promise<Connection> {
    // SQLite itself would create a file that everybody can read.
    await (await open(file, 'a', 0o600)).close()
    const opened = new Sqlite(file)
    await prepare(databaseOf((work) => work(queryOf(opened, seconds))))
    return opened
  }

  /** Run `work` after all earlier work. After an error the file is reopened, which rolls back the transaction. */
  function connected<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const turn = last.then(async () => {
      try {
        connection ??= await connect()
        return await work(queryOf(connection, seconds))
      } catch (error) {
        disconnect()
        throw asStoreError(error, file)
      }
    })
    last = turn.catch(() => undefined)
    return turn
  }

  function disconnect(): void {
    connection?.close()
    connection = undefined
  }

  return { ...databaseOf(connected), close: () => last.then(disconnect) }
}

const databaseOf = (
  connected: <T>(work: (query: Query) => Promise<T>) => Promise<T>,
): Pick<SqlDatabase, 'query' | 'transaction'> => ({
  query: (sql, values) => connected((query) => query(sql, values)),
  transaction: (work) =>
    connected(async (query) => {
      await query('begin immediate')
      const result = await work(query)
      await query('commit')
      return result
    }),
})

/** Return the query function, which waits for locks without blocking the process. */
function queryOf(connection: Connection, seconds: number): Query {
  return async (sql, values = []) => {
    for (const end = Date.now() + seconds * 1000; ; await delay(RETRY_MS)) {
      try {
        const statement = connection.prepare(sql)
        if (statement.reader) return statement.all([...values]) as SqlRow[]
        statement.run([...values])
        return []
      } catch (error) {
        if ((error as { code?: string }).code !== 'SQLITE_BUSY' || Date.now() > end) throw error
      }
    }
  }
}

function asStoreError(error: unknown, file: string): Error {
  const { message, code } = error as NodeJS.ErrnoException
  const text = `The SQLite database ${file}: ${message}`
  return code === 'SQLITE_TOOBIG'
    ? new UnsavableError(text, { cause: error })
    : new Error(text, { cause: error })
}
