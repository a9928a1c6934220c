/** Lists of maps (or of lists) as tables. Options `out.table.*` of Salt, without the prefix. */
import { type OutputOptions, outputter } from 'salt-ts'
import { type Color, type Paint, painter, withoutControls } from './_colors.ts'
import { strOf } from './_python.ts'
import { type Kind, kindOf, listOf, sortedEntriesOf } from './_values.ts'

interface Layout {
  readonly paint: Paint
  readonly hasHeader: boolean
  readonly rowDelimiter: string
  readonly delim: string
  readonly justify: string
  readonly separateRows: boolean
  readonly prefix: string
  readonly suffix: string
  readonly width: number
}

export default outputter({
  render: (value, options) => display(value, 0, layoutOf(options)).join('\n'),
})

function layoutOf(options: OutputOptions): Layout {
  const text = (name: string, fallback: string) =>
    typeof options[name] === 'string' ? options[name] : fallback
  return {
    paint: painter(options.color),
    hasHeader: options.has_header !== false,
    rowDelimiter: text('row_delimiter', '-'),
    delim: text('delim', ' | '),
    justify: text('justify', 'center'),
    separateRows: options.separate_rows !== false,
    prefix: text('prefix', '| '),
    suffix: text('suffix', ' |'),
    width: typeof options.width === 'number' ? options.width : 50,
  }
}

function display(value: unknown, indent: number, layout: Layout): string[] {
  const kind = kindOf(value)
  if (kind === 'list') return table(listOf(value), indent + 4, layout)
  if (kind !== 'map') return []
  return sortedEntriesOf(value).flatMap(([key, member]) => [
    `${line(indent, 'darkGray', withoutControls(strOf(key)), layout)}:`,
    line(indent, 'darkGray', '----------', layout),
    ...(kindOf(member) === 'list' ? display(member, indent, layout) : display(member, indent + 4, layout)),
  ])
}

/** Nothing unless all rows are of one kind. */
function table(rows: unknown[], indent: number, layout: Layout): string[] {
  const kinds = new Set<Kind>(rows.map(kindOf))
  if (kinds.size !== 1) return []
  const header =
    kinds.has('map') && layout.hasHeader ? [sortedEntriesOf(rows[0]).map(([key]) => titleOf(strOf(key)))] : []
  const cells = [...header, ...rows.map(cellsOf)].map((row) => physicalRows(row, layout.width))
  return frame(cells, header.length > 0, indent, layout)
}

function cellsOf(row: unknown): string[] {
  const kind = kindOf(row)
  if (kind === 'map') return sortedEntriesOf(row).map(([, value]) => strOf(value))
  return kind === 'list' ? listOf(row).map(strOf) : [strOf(row)]
}

/** The lines of a row: its cells wrapped, and all made equally high. */
function physicalRows(cells: readonly string[], width: number): string[][] {
  const wrapped = cells.map((cell) => wrapOnSpace(cell, width).split('\n').map(withoutControls))
  const height = Math.max(...wrapped.map((lines) => lines.length))
  return Array.from({ length: height }, (_, n) => wrapped.map((lines) => lines[n] ?? ''))
}

function wrapOnSpace(text: string, width: number): string {
  return text.split(' ').reduce((line, word) => {
    const last = line.length - (line.lastIndexOf('\n') + 1)
    return `${line}${last + (word.split('\n')[0] as string).length >= width ? '\n' : ' '}${word}`
  })
}

function frame(rows: string[][][], hasHeader: boolean, indent: number, layout: Layout): string[] {
  const widths = columnWidths(rows.flat())
  const { prefix, suffix, delim } = layout
  const total = widths.reduce((sum, width) => sum + width, 0) + delim.length * (widths.length - 1)
  const rule = line(
    indent,
    'lightGray',
    layout.rowDelimiter.repeat(prefix.length + total + suffix.length),
    layout,
  )
  const shown = rows.flatMap((lines, n) => [
    ...lines.map((cells) => {
      const padded = widths.map((width, column) => justified(cells[column] ?? '', width, layout.justify))
      return line(indent, 'white', prefix + padded.join(delim) + suffix, layout)
    }),
    ...(layout.separateRows || (hasHeader && n === 0) ? [rule] : []),
  ])
  return layout.separateRows ? [rule, ...shown] : shown
}

function columnWidths(lines: readonly string[][]): number[] {
  const columns = Math.max(...lines.map((cells) => cells.length))
  return Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  )
}

function justified(text: string, width: number, side: string): string {
  if (side === 'left') return text.padEnd(width)
  if (side === 'right') return text.padStart(width)
  const room = width - text.length
  const left = Math.floor(room / 2) + (room & width & 1)
  return ' '.repeat(left) + text + ' '.repeat(room - left)
}

function titleOf(key: string): string {
  return key
    .replaceAll('_', ' ')
    .replace(/\p{L}+/gu, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
}

function line(indent: number, color: Color, text: string, { paint }: Layout): string {
  return ' '.repeat(indent) + paint(color, text)
}
