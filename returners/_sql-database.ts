/** Types of the relational databases that use `_sql.ts`. */
import type { ReturnRecord } from 'salt-ts'

export type SqlValue = string | number | null
/** A row with every column as text. */
export type SqlRow = Readonly<Record<string, string | null>>
/** Run one statement, with `?` for its values. */
export type Query = (sql: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>

/** A database that connects on demand, and again after a connection is lost. */
export interface SqlDatabase {
  readonly query: Query
  /** Run `work` in a transaction. `seconds` limits each statement; the default is the configured time. */
  transaction<T>(work: (query: Query) => Promise<T>, seconds?: number): Promise<T>
  close(): Promise<void>
}

/** Differences between databases. Names that are reserved in any of them are in double quotes for all. */
export interface SqlDialect {
  /** Columns of salt_returns to write, with the function for the value of each. */
  readonly columns: Readonly<Record<string, (ret: ReturnRecord) => SqlValue>>
  /** Column with the time at which a row of salt_returns was written. */
  readonly time: string
  /** Columns of salt_returns to read, and the function that makes a return of them. */
  readonly read: readonly string[]
  readonly returnOf: (row: SqlRow) => ReturnRecord
  /** Encode a value for a JSON column. */
  readonly json: (value: unknown) => string
  /** Expression for the column id that is compared case-sensitively. */
  readonly exactId: string
  /** End of an INSERT that keeps an existing row with the same key. */
  readonly unlessThere: string
  /** End of a SELECT of rows that are changed afterwards. */
  readonly forUpdate: string
  /** Format a time for comparison with time columns. */
  readonly timeText: (time: Date) => string
  /** Make transactions with a number in common run one after another. The numbers are ascending, from 0. */
  readonly lock?: (query: Query, numbers: readonly number[]) => Promise<unknown>
  /** Query for the names of the existing tables and indexes, as `name`. */
  readonly existing: string
  /** Statements that create the tables and indexes, by name and in order. */
  readonly schema: Readonly<Record<string, string>>
  /** Changes to older tables: `run` is executed if the query `due` finds a row, and reported as `done`. */
  readonly changes: readonly { readonly due: string; readonly run: string; readonly done: string }[]
  /** Return a statement that creates a table with the columns of another, unless it exists. */
  readonly createLike: (name: string, table: string) => string
}

/** Limit for statements that scan whole tables, in seconds. */
export const MAINTENANCE_SECONDS = 900
