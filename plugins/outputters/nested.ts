/** Indented and coloured, for people: the default. Keys are sorted. */
import { type OutputOptions, outputter } from 'salt-ts'
import { type Color, type Paint, painter, withoutControls } from './_colors.ts'
import { strOf } from './_python.ts'
import { kindOf, linesOf, listOf, sortedEntriesOf } from './_values.ts'

const STEP = 4

export default outputter({
  render: (value, options) => new Display(options).value(value, baseIndent(options), '').join('\n'),
})

function baseIndent(options: OutputOptions): number {
  return typeof options.nested_indent === 'number' ? options.nested_indent : 0
}

class Display {
  readonly #paint: Paint
  readonly #failed: boolean

  constructor(options: OutputOptions) {
    this.#paint = painter(options.color)
    this.#failed = typeof options.retcode === 'number' && options.retcode !== 0
  }

  value(value: unknown, indent: number, prefix: string): string[] {
    const kind = kindOf(value)
    if (kind === 'map') return this.#map(value, indent, prefix)
    if (kind === 'list') return listOf(value).flatMap((member) => this.#member(member, indent))
    if (kind === 'text' || kind === 'bytes' || kind === 'other')
      return this.#text(strOf(value), indent, prefix)
    return [this.#line(indent, 'lightYellow', prefix + strOf(value))]
  }

  #map(map: unknown, indent: number, prefix: string): string[] {
    const rule = indent > 0 ? [this.#line(indent, this.#tone('cyan'), '----------')] : []
    const members = sortedEntriesOf(map).flatMap(([key, value]) => [
      `${this.#line(indent, this.#tone('cyan'), prefix + withoutControls(strOf(key)))}:`,
      ...this.value(value, indent + STEP, ''),
    ])
    return [...rule, ...members]
  }

  #member(member: unknown, indent: number): string[] {
    const kind = kindOf(member)
    if (kind !== 'list' && kind !== 'map') return this.value(member, indent, '- ')
    return [this.#line(indent, this.#tone('green'), '|_'), ...this.value(member, indent + 2, '')]
  }

  #text(text: string, indent: number, prefix: string): string[] {
    const color = this.#tone('green')
    return linesOf(text).map((line, n) =>
      this.#line(indent, color, (n === 0 ? prefix : ' '.repeat(prefix.length)) + withoutControls(line)),
    )
  }

  #tone(color: Color): Color {
    return this.#failed ? 'red' : color
  }

  #line(indent: number, color: Color, text: string): string {
    return ' '.repeat(indent) + this.#paint(color, text)
  }
}
