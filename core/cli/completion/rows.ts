import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Fields of a row of a table. */
export type Row = readonly string[]
/** Rows by the name of their table. */
export type Tables = Readonly<Record<string, readonly Row[]>>

export type Parameters = Readonly<Record<string, { readonly kind: string }>>

/** Return the names of the parameters of a function, in one field. */
export const parameterNames = (params: Parameters | null | undefined): string =>
  Object.entries(params ?? {})
    .filter(([, { kind }]) => kind === 'value')
    .map(([name]) => name)
    .join(' ')

/**
 * Write each table to a file of its name in a folder: a line per row, fields separated by tabs, as `bin/complete.awk`
 * reads it. Files are replaced at once, so readers see the old or the new one.
 */
export function writeTables(folder: string, tables: Tables): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, rows] of Object.entries(tables)) {
    const temporary = join(folder, `${name}.${process.pid}`)
    writeFileSync(temporary, text(rows))
    renameSync(temporary, join(folder, name))
  }
}

/** Join rows, without control characters: fields from minions must not end a field or control a terminal. */
const text = (rows: readonly Row[]): string =>
  rows.map((row) => `${row.map((field) => field.replaceAll(/\p{Cc}/gu, ' ')).join('\t')}\n`).join('')
