import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Sqlite from 'libsql'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as sqlite3 from '../../../modules/sqlite3.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { call } from './context.ts'

let folder: string
let db: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-sqlite-')
  db = join(folder, 'a.db')
})
afterEach(() => removeFolder(folder))

const modify = (sql: string) => call(sqlite3.modify, { db, sql })
const fetch = (sql: string) => call(sqlite3.fetch, { db, sql })

test('A database is created, changed and read', async () => {
  expect(await modify('CREATE TABLE t (id INT, word TEXT);')).toBe(true)
  expect(await modify("INSERT INTO t VALUES (1, 'a;b'), (2, NULL) -- two")).toBe(true)
  expect(await fetch('SELECT * FROM t ORDER BY id; ')).toEqual([
    [1, 'a;b'],
    [2, null],
  ])
  expect(await fetch('INSERT INTO t VALUES (3, 4) RETURNING id')).toEqual([[3]])
  expect(await modify('DELETE FROM t RETURNING id')).toBe(true)
  expect(await fetch('SELECT count(*) FROM t')).toEqual([[0]])
})

test('A name in double quotes that no column has is a text', async () => {
  await modify('CREATE TABLE t (id INT, word TEXT)')
  await modify(`INSERT INTO t VALUES (1, "web1"), (2, "it's ""so""")`)
  expect(await fetch('SELECT "word", "id" FROM t WHERE word IN ("web1", "web2")')).toEqual([['web1', 1]])
  expect(await fetch('SELECT word FROM t WHERE id = 2')).toEqual([['it\'s "so"']])
  await expect(fetch('SELECT wrod FROM t')).rejects.toThrow('no such column: wrod')
  await expect(fetch('SELECT t."wrod" FROM t')).rejects.toThrow('no such column: t.wrod')
})

test('Values keep their types: integers of 64 bits, whole floats, bytes, texts with a NUL, columns of one name', async () => {
  const sql = "SELECT 9223372036854775807, 2.0, 0.1, x'00ff', 'a' || char(0) || 'ü', NULL, 1 AS a, 2 AS a"
  const [row] = (await fetch(sql)) as unknown[][]
  expect(row).toEqual([9223372036854775807n, new Number(2), 0.1, Buffer.from([0, 255]), 'a\0ü', null, 1, 2])
})

test('Tables and indexes are listed by name', async () => {
  await modify('CREATE TABLE b (x)')
  await modify('CREATE TABLE a (x)')
  await modify('CREATE INDEX i ON a (x)')
  expect(await call(sqlite3.tables, { db })).toEqual([['a'], ['b']])
  expect(await call(sqlite3.indices, { db })).toEqual([['i']])
  expect(await call(sqlite3.indexes, { db })).toEqual([['i']])
})

test('Without a database the answer is false, without a statement an error', async () => {
  for (const called of [sqlite3.modify, sqlite3.fetch]) expect(await call(called, { sql: 'x' })).toBe(false)
  expect(await call(sqlite3.fetch)).toBe(false)
  for (const called of [sqlite3.tables, sqlite3.indices]) expect(await call(called)).toBe(false)
  await expect(call(sqlite3.modify, { db })).rejects.toThrow("'sql' is missing")
})

test('Several statements are refused, and none of them is run', async () => {
  await modify('CREATE TABLE t (x)')
  await expect(modify('INSERT INTO t VALUES (1); DELETE FROM t')).rejects.toThrow(
    'You can only execute one statement at a time.',
  )
  expect(await fetch('SELECT * FROM t; -- the end\n /* ; */ ;')).toEqual([])
  await modify('CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; SELECT 1; END;')
  expect(await fetch('SELECT \';\', ";" FROM (SELECT 1 AS ";")')).toEqual([[';', 1]])
})

test('An empty statement does nothing', async () => {
  expect(await modify(' -- nothing')).toBe(true)
  expect(await fetch('')).toEqual([])
})

test('Errors are those of SQLite, with their position', async () => {
  await expect(fetch('SELECT * FROM nope')).rejects.toThrow(`The SQLite database ${db}: no such table: nope`)
  await expect(modify('bad sql')).rejects.toThrow('near "bad": syntax error')
  await writeFile(db, 'no database, but a text that is longer than the header of one would be'.repeat(20))
  await expect(call(sqlite3.tables, { db })).rejects.toThrow('file is not a database')
  await expect(call(sqlite3.tables, { db: join(folder, 'no', 'a.db') })).rejects.toThrow(
    'unable to open database file',
  )
})

test('An address of the network is a path like any other', async () => {
  await expect(call(sqlite3.tables, { db: 'libsql://127.0.0.1:1/x' })).rejects.toThrow(
    'The SQLite database libsql://127.0.0.1:1/x: unable to open database file',
  )
})

test('Text that is not UTF-8 is an error, and does not end the process', async () => {
  const other = new Sqlite(db)
  other.prepare("CREATE TABLE t AS SELECT CAST(x'ff41' AS TEXT) AS word").run()
  other.close()
  await expect(fetch('SELECT word FROM t')).rejects.toThrow('Could not decode to UTF-8 column 1')
})

test('A database in UTF-16 is read', async () => {
  await modify("PRAGMA encoding = 'UTF-16'")
  const other = new Sqlite(db)
  other.exec("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t AS SELECT 'grün' AS word")
  other.close()
  expect(await fetch('SELECT word FROM t')).toEqual([['grün']])
})

test('Versions are texts', async () => {
  expect(await call(sqlite3.version)).toMatch(/^\d+\.\d+\.\d+$/)
  expect(await call(sqlite3.sqlite_version)).toMatch(/^3\.\d+\.\d+$/)
})
