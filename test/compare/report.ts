/** What a comparison found, as a table. */
import { table } from '../bench/table.ts'
import type { Agreement } from './answer.ts'
import type { Call } from './calls.ts'

export interface Compared {
  readonly list: string
  readonly call: Call
  readonly agreement: Agreement
  /** How many fields the answers have, and how many of them are equal (`comparedFields`). */
  readonly fields: { readonly fields: number; readonly equal: number }
}

/** Return a Markdown table with a row for each list and one for all. */
export function reportOf(compared: readonly Compared[]): string {
  const lists = [...new Set(compared.map(({ list }) => list))]
  const rows = lists.map((name) =>
    rowOf(
      `\`${name}\``,
      compared.filter(({ list }) => list === name),
    ),
  )
  const head = [
    'calls of',
    'calls',
    'Salt shows a traceback',
    'equal',
    'fail in other words',
    'differ, documented',
    'differ',
    'equal, %',
    'equal fields, %',
  ]
  return `${table([head, ...rows, rowOf('all', compared)]).join('\n')}\n`
}

function rowOf(name: string, compared: readonly Compared[]): string[] {
  const count = (agreement: Agreement, isMeant?: boolean) =>
    compared.filter(
      (one) => one.agreement === agreement && (isMeant === undefined || one.call.isMeant === isMeant),
    ).length
  const answered = compared.filter(({ agreement }) => agreement !== 'traceback')
  const share = (part: number, whole: number) => (whole === 0 ? '' : ((100 * part) / whole).toFixed(1))
  const sum = (of: keyof Compared['fields']) => answered.reduce((total, { fields }) => total + fields[of], 0)
  const counts = [
    compared.length,
    count('traceback'),
    count('equal'),
    count('other words'),
    count('differs', true),
    count('differs', false),
  ]
  const shares = [share(count('equal'), answered.length), share(sum('equal'), sum('fields'))]
  return [name, ...counts.map(String), ...shares]
}
