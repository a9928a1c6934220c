/** A SQLite database: one file, locked while somebody writes to it. */
import { open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from 'libsql'
import { UnsavableError } from 'salt-ts'
import { library } from './_library.ts'
import type { Query, SqlDatabase, SqlRow } from './_sql-database.ts'

/** Between two looks at a file that is locked. */
const RETRY_MS = 20

type Connection = Database

/**
 * `seconds`: how long it is waited for somebody else to unlock the file. `prepare`: run on each connection that is opened.
 * @throws an Error with a sentence if the package libsql is not installed.
 */
export async function sqliteDatabase(
  file: string,
  seconds: number,
  prepare: (database: Pick<SqlDatabase, 'transaction'>) => Promise<unknown>,
): Promise<SqlDatabase> {
  const { default: Sqlite } = await library('sqlite3', 'libsql', () => import('libsql'))
  let connection: Connection | undefined
  /** What is under way: there is one connection, and it has one transaction. */
  let last: Promise<unknown> = Promise.resolve()

  async function connect(): Promise<Connection> {
    // SQLite would make a file that everybody can read.
    await (await open(file, 'a', 0o600)).close()
    const opened = new Sqlite(file)
    await prepare(databaseOf((work) => work(queryOf(opened, seconds))))
    return opened
  }

  /** One after the other. After an error the file is opened anew, which undoes what is begun. */
  function connected<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const turn = last.then(async () => {
      try {
        connection ??= await connect()
        return await work(queryOf(connection, seconds))
      } catch (error) {
        disconnect()
        throw told(error, file)
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

/** Waits for a lock without holding up the process. */
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

function told(error: unknown, file: string): Error {
  const { message, code } = error as NodeJS.ErrnoException
  const text = `The SQLite database ${file}: ${message}`
  return code === 'SQLITE_TOOBIG'
    ? new UnsavableError(text, { cause: error })
    : new Error(text, { cause: error })
}
