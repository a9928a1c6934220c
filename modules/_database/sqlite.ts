/** SQLite databases. The library aborts the process at text that is not UTF-8, so texts are read as bytes wherever it can be done. */
import { resolve } from 'node:path'
import type { Database, Statement } from 'libsql'
import { CommandExecutionError } from 'salt-ts'
import { library } from './library.ts'
import { withQuotedTexts } from './quoted-texts.ts'
import { singleStatement } from './single-statement.ts'

/** How long a statement waits while another process has the database locked. */
const BUSY_MS = 5000

/** Values by name, as `:key` in a statement. */
type Values = Readonly<Record<string, unknown>>

export interface Sqlite {
  /** Run one statement, and return its rows. */
  rows(sql: string, values?: Values): unknown[][]
  /** Run one statement, and drop its rows. */
  run(sql: string, values?: Values): void
}

/**
 * Open a database, which is created if it is missing, and close it after `work`.
 * @throws CommandExecutionError with SQLite's message
 */
export async function withSqlite<T>(module: string, path: string, work: (database: Sqlite) => T): Promise<T> {
  const Library = library<typeof import('libsql')>(module, 'libsql')
  const where = path === ':memory:' ? path : resolve(path)
  const failed = (error: unknown) =>
    new CommandExecutionError(`The SQLite database ${path}: ${reason(error)}`)
  let database: Database
  try {
    // A whole path, as the library takes `libsql://…` for an address of the network.
    database = new Library(where, { timeout: BUSY_MS })
  } catch (error) {
    throw failed(error)
  }
  try {
    return work({
      rows: (sql, values) =>
        withQuotedTexts(singleStatement(sql), (statement) => readRows(database, statement, values)),
      run: (sql, values) =>
        withQuotedTexts(singleStatement(sql), (statement) => runStatement(database, statement, values)),
    })
  } catch (error) {
    throw (error as { name?: string }).name === 'SqliteError' ? failed(error) : error
  } finally {
    database.close()
  }
}

const given = (values: Values | undefined): Values[] => (values === undefined ? [] : [values])

function runStatement(database: Database, sql: string, values: Values | undefined): void {
  if (sql === '') return
  // `run` would end a statement with RETURNING before it has changed anything for good.
  if (values === undefined) database.exec(sql)
  else database.prepare(sql).run(values)
}

function reason(error: unknown): string {
  const { message } = error as Error
  return /local database .*: \d+"?\)$/.test(message) ? 'unable to open database file' : message
}

function readRows(database: Database, sql: string, values: Values | undefined): unknown[][] {
  if (sql === '') return []
  const statement = database.prepare(sql)
  if (!statement.reader) {
    statement.run(...given(values))
    return []
  }
  const asBytes = readingBytes(database, sql, statement.columns().length)
  const encoding = asBytes && textEncoding(database)
  const rows = (asBytes ?? statement)
    .raw()
    .safeIntegers(true)
    .all(...given(values)) as unknown[][]
  return rows.map((row) => (encoding ? decoded(row, encoding) : row).map(asValue))
}

/** Return a statement with the same rows, whose texts are bytes after the word `text`; undefined if it cannot be made of the SQL. */
function readingBytes(database: Database, sql: string, columns: number): Statement | undefined {
  const names = Array.from({ length: columns }, (_, index) => `c${index}`)
  const read = names.map(
    (name) => `typeof(${name}), case typeof(${name}) when 'text' then cast(${name} as blob) else ${name} end`,
  )
  try {
    return database.prepare(`with r(${names.join()}) as (${sql}\n) select ${read.join()} from r`)
  } catch {
    return undefined
  }
}

function textEncoding(database: Database): string {
  const [row] = database.prepare('pragma encoding').raw().all() as [string][]
  return row?.[0] === 'UTF-16be' ? 'utf-16be' : row?.[0] === 'UTF-16le' ? 'utf-16le' : 'utf-8'
}

/** Turn pairs of type and value into values. */
function decoded(row: readonly unknown[], encoding: string): unknown[] {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  const values = row.filter((_, index) => index % 2 === 1)
  return values.map((value, index) => {
    if (row[index * 2] !== 'text') return value
    try {
      return decoder.decode(value as Uint8Array)
    } catch {
      throw new CommandExecutionError(`Could not decode to UTF-8 column ${index + 1} of a row`)
    }
  })
}

/** Integers become numbers where these are exact; whole floats are boxed, so that they stay floats. */
function asValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  return typeof value === 'number' && Number.isInteger(value) ? new Number(value) : value
}
