/** Finds tables in a value: lists of maps, of lists of texts, or of texts. */
import type { OutputOptions } from 'salt-ts'
import { painter } from './_colors.ts'
import { nested } from './_nested.ts'
import { rstrip, strOf } from './_python.ts'
import { frame, layoutOf } from './_table-frame.ts'
import { entriesOf, isSortable, kindOf, listOf, sortedEntriesOf } from './_values.ts'

/** Show the tables of a value. If any part of it cannot be shown as a table, the whole value is shown as by `nested`. */
export function table(value: unknown, options: OutputOptions): string {
  try {
    const finder = new Tables(options)
    return rstrip([...titleOf(options), ...finder.in(value, indentOf(options))].join('\n'))
  } catch (error) {
    if (error instanceof NoTable) return nested(value, options)
    throw error
  }
}

class NoTable extends Error {}

const indentOf = ({ nested_indent }: OutputOptions): number =>
  typeof nested_indent === 'number' ? nested_indent : 0

/** Return the title; there is one only with `rows_key`. */
function titleOf(options: OutputOptions): string[] {
  if (!options.title || !options.rows_key) return []
  return [`${' '.repeat(indentOf(options))}${painter(options)('white', String(options.title))}\n`]
}

class Tables {
  readonly #options: OutputOptions
  /** Key of the lists to show; others are left out. All lists are shown if it is not set. */
  readonly #rowsKey: unknown
  /** Key, beside the rows, of the column titles. */
  readonly #labelsKey: unknown

  constructor(options: OutputOptions) {
    this.#options = options
    this.#rowsKey = options.rows_key
    this.#labelsKey = options.labels_key
  }

  in(value: unknown, indent: number): string[] {
    const kind = kindOf(value)
    if (kind === 'list') return this.#rowsKey ? [] : this.#rows(listOf(value), undefined, indent)
    if (kind !== 'map') return []
    const members = sorted(value)
    if (!this.#rowsKey) return members.flatMap(([key, member]) => this.#member(key, member, indent))
    const rows = members.find(([key]) => key === this.#rowsKey)
    if (!rows) return members.flatMap(([, member]) => this.in(member, indent))
    if (kindOf(rows[1]) !== 'list') return this.in(rows[1], indent + 4)
    const labels = members.find(([key]) => key === this.#labelsKey)?.[1]
    return this.#rows(listOf(rows[1]), labels, indent)
  }

  #member(key: unknown, member: unknown, indent: number): string[] {
    const { line } = layoutOf(this.#options)
    return [
      `${line(indent, 'darkGray', strOf(key))}:`,
      line(indent, 'darkGray', '----------'),
      ...this.in(member, kindOf(member) === 'list' ? indent : indent + 4),
    ]
  }

  /** Return the lines of a table; none unless all rows have the same type. */
  #rows(rows: readonly unknown[], labels: unknown, indent: number): string[] {
    const kinds = [...new Set(rows.map(kindOf))]
    if (kinds.length !== 1) return []
    const titles =
      labelsOf(labels) ?? (kinds[0] === 'map' ? sorted(rows[0]).map(([key]) => asTitle(key)) : [])
    const head = titles.length > 0 ? [titles] : []
    const cells = [...head, ...rows.map(cellsOf)]
    if (cells.some((row) => row.length === 0)) throw new NoTable()
    return frame(cells, head.length > 0, indent + 4, layoutOf(this.#options))
  }
}

function labelsOf(labels: unknown): string[] | undefined {
  if (!labels) return undefined
  const list = kindOf(labels) === 'map' ? sorted(labels).map(([, label]) => label) : labels
  if (kindOf(list) !== 'list') throw new NoTable()
  return listOf(list).length > 0 ? textsOf(listOf(list)) : undefined
}

function cellsOf(row: unknown): string[] {
  const kind = kindOf(row)
  if (kind === 'map') return sorted(row).map(([, value]) => strOf(value))
  if (kind === 'text') return [row as string]
  if (kind !== 'list') throw new NoTable()
  return textsOf(listOf(row))
}

function textsOf(cells: readonly unknown[]): string[] {
  if (!cells.every((cell) => typeof cell === 'string')) throw new NoTable()
  return cells as string[]
}

function sorted(map: unknown): [unknown, unknown][] {
  if (!isSortable(entriesOf(map))) throw new NoTable()
  return sortedEntriesOf(map)
}

/** Turn `last_move` into "Last Move". */
function asTitle(key: unknown): string {
  return strOf(key)
    .replaceAll('_', ' ')
    .replace(/\p{Cased}+/gu, (word) => {
      const [first = '', ...rest] = word
      return first.toUpperCase() + rest.join('').toLowerCase()
    })
}
