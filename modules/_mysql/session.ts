/** Statements for a MySQL server, and what Salt's functions do if they fail. */
import type { Connection, FieldPacket, ResultSetHeader, TypeCastField } from 'mysql2/promise'
import { CommandExecutionError, type Context } from 'salt-ts'
import { connect, NoConnection, type Place } from './connect.ts'

/** A value: integers are numbers if these are exact; decimals, dates and times are texts. */
type Value = string | number | bigint | Uint8Array | null | object
export type Row = Record<string, Value>

export interface Answer {
  readonly columns: string[]
  readonly rows: Value[][]
  readonly affected: number
}

export interface Session {
  /** Run a statement. Each `?` stands for a value, which is quoted. */
  run(sql: string, values?: readonly string[]): Promise<Answer>
  rows(sql: string, values?: readonly string[]): Promise<Row[]>
}

/** Quote a name for SQL. */
export const ident = (name: string): string => `\`${name.replaceAll('`', '``')}\``

/** Quote a text so that LIKE takes it as it is. */
export const likeText = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

/** Errors that Salt's modules do not catch: of syntax, of missing tables, of values, of keys. */
const THROWN = new Set([
  1007, 1048, 1062, 1064, 1102, 1103, 1110, 1146, 1149, 1216, 1217, 1230, 1264, 1265, 1451, 1452,
])

export class Refused extends Error {
  override name = 'Refused'
}

/**
 * Run `work` on a connection of its own. If the server cannot be reached, or refuses a statement for lack of rights and the like,
 * the reason is logged and the result is `otherwise`. @throws CommandExecutionError for an error in a statement
 */
export async function withMysql<T, Otherwise>(
  place: Place,
  context: Context,
  otherwise: Otherwise,
  work: (session: Session) => Promise<T>,
  asText = false,
): Promise<T | Otherwise> {
  try {
    return await onServer(place, context, work, asText)
  } catch (error) {
    if (!(error instanceof NoConnection || error instanceof Refused)) throw error
    report(error.message, context)
    return otherwise
  }
}

/** Log the reason of a failure, and keep it where Salt's states find it. */
export function report(message: string, { context, log }: Context): void {
  context.set('mysql.error', message)
  log.error(message)
}

/** Run `work` on a connection of its own. Rejects with {@link NoConnection}, {@link Refused} or CommandExecutionError. */
export async function onServer<T>(
  place: Place,
  context: Context,
  work: (session: Session) => Promise<T>,
  asText = false,
): Promise<T> {
  const connection = (await connect(place, context)) as Connection
  const stop = () => connection.destroy()
  context.signal.addEventListener('abort', stop)
  try {
    // Values are quoted with backslashes, which a server in this mode would take as they are.
    await connection.query("set session sql_mode = replace(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '')")
    const run: Session['run'] = (sql, values = []) => ask(connection, sql, values, asText)
    return await work({
      run,
      rows: async (sql, values) => {
        const { columns, rows } = await run(sql, values)
        return rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null])))
      },
    })
  } finally {
    context.signal.removeEventListener('abort', stop)
    connection.destroy()
  }
}

async function ask(
  connection: Connection,
  sql: string,
  values: readonly string[],
  asText: boolean,
): Promise<Answer> {
  try {
    const typeCast = asText ? textOf : valueOfField
    const given = values.length > 0 ? { values: [...values] } : {}
    const [result, fields] = await connection.query({ sql, typeCast, rowsAsArray: true, ...given })
    if (!Array.isArray(result)) {
      return { columns: [], rows: [], affected: (result as ResultSetHeader).affectedRows }
    }
    const rows = result as unknown as Value[][]
    return { columns: (fields as FieldPacket[]).map(({ name }) => name), rows, affected: rows.length }
  } catch (error) {
    const { errno, message } = error as Error & { errno?: number }
    if (errno === undefined) throw error
    const sentence = `MySQL Error ${errno}: ${message}`
    throw THROWN.has(errno) ? new CommandExecutionError(sentence) : new Refused(sentence)
  }
}

const INTEGERS = new Set(['TINY', 'SHORT', 'INT24', 'LONG', 'LONGLONG', 'YEAR'])
const FLOATS = new Set(['FLOAT', 'DOUBLE'])

/** Bytes that are no text stay bytes. */
function textOf(field: TypeCastField): string | Uint8Array | null {
  const bytes = field.buffer()
  if (bytes === null) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return bytes
  }
}

function valueOfField(field: TypeCastField): Value {
  const text = textOf(field)
  if (typeof text !== 'string') return text
  if (FLOATS.has(field.type)) return Number.isInteger(Number(text)) ? new Number(text) : Number(text)
  if (!INTEGERS.has(field.type)) return text
  return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
}
