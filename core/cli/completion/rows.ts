import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Fields of a row of a table. */
export type Row = readonly string[]
/** Rows by the name of their table. */
export type Tables = Readonly<Record<string, readonly Row[]>>

export type Parameters = Readonly<Record<string, { readonly kind: string }>>

/** The names of what a function takes by name, in one field. */
export const parameters = (params: Parameters | null | undefined): string =>
  Object.entries(params ?? {})
    .filter(([, { kind }]) => kind === 'value')
    .map(([name]) => name)
    .join(' ')

/**
 * Write each table to a file of its name in a folder, which is made: a line per row, tabs between fields, as
 * `bin/complete.awk` reads it. Who reads meanwhile has the old one or the new.
 */
export function writeTables(folder: string, tables: Tables): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, rows] of Object.entries(tables)) {
    const temporary = join(folder, `${name}.${process.pid}`)
    writeFileSync(temporary, text(rows))
    renameSync(temporary, join(folder, name))
  }
}

/** Text of rows without control characters: some of it comes from minions, and must not end a field or steer a terminal. */
const text = (rows: readonly Row[]): string =>
  rows.map((row) => `${row.map((field) => field.replaceAll(/\p{Cc}/gu, ' ')).join('\t')}\n`).join('')
