/** Draws one table: wraps the cells, pads them to equal width, and draws the separators. */
import type { OutputOptions } from 'salt-ts'
import { type Color, painter, screen } from './_colors.ts'
import { lengthOf } from './_values.ts'

export interface Layout {
  /** Return a coloured line of text, indented by so many columns. */
  line(indent: number, color: Color, text: string): string
  readonly hasHeader: boolean
  readonly rowDelimiter: string
  readonly delim: string
  readonly justify: string
  readonly separateRows: boolean
  readonly prefix: string
  readonly suffix: string
  readonly width: number
}

export function layoutOf(options: OutputOptions): Layout {
  const text = (name: string, fallback: string) =>
    typeof options[name] === 'string' ? options[name] : fallback
  const paint = painter(options)
  const safe = screen(options)
  return {
    line: (indent, color, shown) => ' '.repeat(indent) + paint(color, safe(shown)),
    hasHeader: options.has_header !== false,
    rowDelimiter: text('row_delimiter', '-'),
    delim: text('delim', ' | '),
    justify: text('justify', 'center').toLowerCase(),
    separateRows: options.separate_rows !== false,
    prefix: text('prefix', '| '),
    suffix: text('suffix', ' |'),
    width: typeof options.width === 'number' ? options.width : 50,
  }
}

/** Draw the table. With `headed`, the first row has the column titles. */
export function frame(
  rows: readonly (readonly string[])[],
  headed: boolean,
  indent: number,
  layout: Layout,
): string[] {
  const blocks = rows.map((row) => linesOf(row, layout.width))
  const widths = columnWidths(blocks.flat())
  const { prefix, suffix, delim, line } = layout
  const total = widths.reduce((sum, width) => sum + width, 0) + lengthOf(delim) * (widths.length - 1)
  const rule = layout.rowDelimiter.repeat(lengthOf(prefix) + total + lengthOf(suffix))
  const ruled = line(indent, 'lightGray', rule)
  const shown = blocks.flatMap((lines, n) => [
    ...lines.map((cells) => {
      const padded = widths.map((width, column) => justified(cells[column] ?? '', width, layout.justify))
      return line(indent, 'white', prefix + padded.join(delim) + suffix)
    }),
    ...(layout.separateRows || (headed && layout.hasHeader && n === 0) ? [ruled] : []),
  ])
  return layout.separateRows ? [ruled, ...shown] : shown
}

/** Return the lines of a row: the cells wrapped and padded to equal height. */
function linesOf(cells: readonly string[], width: number): string[][] {
  const wrapped = cells.map((cell) => wrapOnSpace(cell, width).split('\n'))
  const height = Math.max(...wrapped.map((lines) => lines.length))
  return Array.from({ length: height }, (_, n) => wrapped.map((lines) => lines[n] ?? ''))
}

function wrapOnSpace(text: string, width: number): string {
  return text.split(' ').reduce((line, word) => {
    const last = lengthOf(line.slice(line.lastIndexOf('\n') + 1))
    return `${line}${last + lengthOf(word.split('\n')[0] as string) >= width ? '\n' : ' '}${word}`
  })
}

function columnWidths(lines: readonly string[][]): number[] {
  const columns = Math.max(...lines.map((cells) => cells.length))
  return Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((cells) => lengthOf(cells[column] ?? ''))),
  )
}

function justified(text: string, width: number, side: string): string {
  const room = width - lengthOf(text)
  if (side === 'left') return text + ' '.repeat(room)
  if (side === 'right') return ' '.repeat(room) + text
  const left = Math.floor(room / 2) + (room & width & 1)
  return ' '.repeat(left) + text + ' '.repeat(room - left)
}
