/** Values in a table of a SQLite database: keys as text, values as MessagePack. */
import { open } from 'node:fs/promises'
import { CommandExecutionError } from 'salt-ts'
import { fromMsgpack, msgpack } from '#internal'
import { type Sqlite, withSqlite } from '../_database/sqlite.ts'
import type { Driver, Profile } from './drivers.ts'

export const sqlite3: Driver = {
  get: (key, profile) =>
    inDatabase(profile, ({ rows }, table) => {
      const query = String(profile.get_query ?? `SELECT value FROM ${table} WHERE key=:key`)
      const [row] = rows(query, { key })
      return row ? unpacked(row[0], key) : null
    }),
  set: (key, value, profile) =>
    inDatabase(profile, ({ run }, table) => {
      const query = String(profile.set_query ?? `INSERT OR REPLACE INTO ${table} VALUES (:key, :value)`)
      run(query, { key, value: msgpack(value) })
      return true
    }),
}

async function inDatabase<T>(profile: Profile, work: (database: Sqlite, table: string) => T): Promise<T> {
  const { database } = profile
  if (typeof database !== 'string')
    throw new CommandExecutionError("The SDB profile of the driver sqlite3 needs 'database', a path")
  const name = String(profile.table ?? 'sdb')
  await createPrivately(database)
  return withSqlite('sdb', database, (opened) => {
    create(opened, profile, name)
    return work(opened, quoted(name))
  })
}

/** Create the file of a database, if it is missing: what it is to hold are secrets, and SQLite would let everybody read it. */
async function createPrivately(path: string): Promise<void> {
  if (path === ':memory:') return
  const made = await open(path, 'wx', 0o600).catch(() => undefined) // it exists, or SQLite will say what is wrong
  await made?.close()
}

/** Create the tables of a profile, unless they exist. */
function create({ run }: Sqlite, { create_statements, create_table }: Profile, name: string): void {
  const own = [
    `CREATE TABLE ${quoted(name)} (key text, value blob)`,
    `CREATE UNIQUE INDEX ${quoted(`${name}_idx`)} ON ${quoted(name)} (key)`,
  ]
  const statements = Array.isArray(create_statements)
    ? create_statements.map(String)
    : create_table === false
      ? []
      : own
  try {
    for (const statement of statements) run(statement)
  } catch (error) {
    if (!/already exists/.test((error as Error).message)) throw error
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

function unpacked(value: unknown, key: string): unknown {
  try {
    return fromMsgpack(value as Uint8Array)
  } catch {
    throw new CommandExecutionError(`The value of '${key}' in the SQLite database is no MessagePack`)
  }
}
