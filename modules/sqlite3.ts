/** Query and change SQLite databases, each a file. */
import { fn, p, SaltInvocationError } from 'salt-ts'
import { library, libraryVersion } from './_database/library.ts'
import { withSqlite } from './_database/sqlite.ts'

const db = p.optional(p.string({ description: 'Path of the database, which is created if it is missing.' }))
const sql = p.optional(p.string({ description: 'One statement.' }))

/**
 * Return the version of the library that reads the databases.
 *
 * @example salt '*' sqlite3.version
 */
export const version = fn(() => {
  library('sqlite3', 'libsql')
  return libraryVersion('libsql')
})

/**
 * Return the version of SQLite.
 *
 * @example salt '*' sqlite3.sqlite_version
 */
export const sqlite_version = fn(() =>
  withSqlite('sqlite3', ':memory:', ({ rows }) => rows('select sqlite_version()')[0]?.[0]),
)

/**
 * Run one statement that changes a database, and return true.
 *
 * @example salt '*' sqlite3.modify /root/test.db 'CREATE TABLE test(id INT, testdata TEXT);'
 */
export const modify = fn({ db, sql }, async ({ db, sql }) => {
  if (db === undefined) return false
  await withSqlite('sqlite3', db, ({ run }) => run(statementOf(sql)))
  return true
})

/**
 * Run one query, and return all its rows, each a list.
 *
 * @example salt '*' sqlite3.fetch /root/test.db 'SELECT * FROM test;'
 */
export const fetch = fn({ db, sql }, ({ db, sql }) =>
  db === undefined ? false : rowsOf(db, statementOf(sql)),
)

/**
 * List the tables of a database, each as a list with its name.
 *
 * @example salt '*' sqlite3.tables /root/test.db
 */
export const tables = fn({ db }, ({ db }) => rowsOf(db, namesOf('table')))

/**
 * List the indexes of a database, each as a list with its name.
 *
 * @example salt '*' sqlite3.indices /root/test.db
 */
export const indices = fn({ db }, ({ db }) => rowsOf(db, namesOf('index')))

/**
 * List the indexes of a database, as `sqlite3.indices` does.
 *
 * @example salt '*' sqlite3.indexes /root/test.db
 */
export const indexes = fn({ db }, ({ db }) => rowsOf(db, namesOf('index')))

const namesOf = (type: 'table' | 'index') =>
  `select name from sqlite_master where type = '${type}' order by name`

async function rowsOf(db: string | undefined, sql: string): Promise<unknown[][] | false> {
  return db === undefined ? false : withSqlite('sqlite3', db, ({ rows }) => rows(sql))
}

function statementOf(sql: string | undefined): string {
  if (sql === undefined) throw new SaltInvocationError("'sql' is missing: give one statement of SQL.")
  return sql
}
