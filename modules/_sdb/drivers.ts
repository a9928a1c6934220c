import type { Context } from 'salt-ts'
import { env } from './env.ts'
import { rest } from './rest.ts'
import { sqlite3 } from './sqlite3.ts'

export type Profile = Readonly<Record<string, unknown>>

/** Reads and writes the values of one kind of store. A profile of the configuration says which one. */
export interface Driver {
  /** Resolves with null if there is no such value. */
  get(key: string, profile: Profile, context: Context): unknown
  /** Resolves with what `sdb.set` returns. */
  set(key: string, value: unknown, profile: Profile, context: Context): unknown
}

/** The drivers by the name that profiles give as `driver`. */
export const drivers: ReadonlyMap<string, Driver> = new Map([
  ['env', env],
  ['rest', rest],
  ['sqlite3', sqlite3],
])
