/** A relational database as the returners that share `_sql.ts` use it. */
import type { ReturnRecord } from 'salt-ts'

export type SqlValue = string | number | null
/** Every column as text. */
export type SqlRow = Readonly<Record<string, string | null>>
/** One statement, with `?` where its values are. */
export type Query = (sql: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>

/** Connects when it is needed, and again after a connection was lost. */
export interface SqlDatabase {
  readonly query: Query
  /** All or nothing. `seconds`: how long a statement may take, if not as long as is configured. */
  transaction<T>(work: (query: Query) => Promise<T>, seconds?: number): Promise<T>
  close(): Promise<void>
}

/** In what one database differs from others. Names reserved in any of them stand in double quotes for all. */
export interface SqlDialect {
  /** The columns of salt_returns that are written, and what is in them. */
  readonly columns: Readonly<Record<string, (ret: ReturnRecord) => SqlValue>>
  /** The column that says when a row of salt_returns was written. */
  readonly time: string
  /** The columns of salt_returns that are read, and the return they make. */
  readonly read: readonly string[]
  readonly returnOf: (row: SqlRow) => ReturnRecord
  /** JSON as the columns take it. */
  readonly json: (value: unknown) => string
  /** The column id, compared so that texts which differ in case only are two. */
  readonly exactId: string
  /** At the end of an INSERT: leaves alone what is there with the same key. */
  readonly unlessThere: string
  /** At the end of a SELECT of rows that are then changed. */
  readonly forUpdate: string
  /** A point in time as it is compared with the columns of time. */
  readonly timeText: (time: Date) => string
  /** Makes transactions that have a number in common wait for each other until their end. Numbers: ascending, from 0. */
  readonly lock?: (query: Query, numbers: readonly number[]) => Promise<unknown>
  /** Selects the names of the tables and indexes there are, as `name`. */
  readonly existing: string
  /** What has to be there, by its name: the statement that creates it, in this order. */
  readonly schema: Readonly<Record<string, string>>
  /** What older tables lack: `run` if the query `due` finds a row. */
  readonly changes: readonly { readonly due: string; readonly run: string; readonly done: string }[]
  /** Creates a table with the columns of another, unless it is there. */
  readonly createLike: (name: string, table: string) => string
}

/** How long statements that go through whole tables may take, in seconds. */
export const MAINTENANCE_SECONDS = 900
