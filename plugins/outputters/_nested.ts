/** The display of `nested`, which other outputters fall back to for values that they cannot show. */
import type { OutputOptions } from 'salt-ts'
import { type Color, type Paint, painter, type Screen, screen } from './_colors.ts'
import { rstrip, strOf } from './_python.ts'
import { entriesOf, isSortable, kindOf, linesOf, listOf, sortedEntriesOf } from './_values.ts'

const STEP = 4

/** Format a value as Salt's `nested` does; `indent` is the column of the outermost lines. */
export function nested(value: unknown, options: OutputOptions, indent = baseIndent(options)): string {
  return rstrip(new Display(options).value(value, indent, '').join('\n'))
}

function baseIndent(options: OutputOptions): number {
  return typeof options.nested_indent === 'number' ? options.nested_indent : 0
}

class Display {
  readonly #paint: Paint
  readonly #safe: Screen
  readonly #failed: boolean

  constructor(options: OutputOptions) {
    this.#paint = painter(options)
    this.#safe = screen(options)
    this.#failed = typeof options.retcode === 'number' && options.retcode !== 0
  }

  value(value: unknown, indent: number, prefix: string): string[] {
    const kind = kindOf(value)
    if (kind === 'map') return this.#map(value, indent, prefix)
    if (kind === 'list') return listOf(value).flatMap((member) => this.#member(member, indent))
    if (kind === 'text') return this.#text(value as string, indent, prefix)
    if (kind === 'bytes') return this.#text(textOf(value as Uint8Array), indent, prefix)
    if (kind === 'date' || kind === 'other') return this.#text(strOf(value), indent, prefix)
    return [this.#line(indent, 'lightYellow', prefix + strOf(value))]
  }

  #map(map: unknown, indent: number, prefix: string): string[] {
    const rule = indent > 0 ? [this.#line(indent, this.#tone('cyan'), '----------')] : []
    const members = sortedEntriesOf(comparable(map)).flatMap(([key, value]) => [
      `${this.#line(indent, this.#tone('cyan'), prefix + this.#safe(strOf(key), 'key'))}:`,
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
    return linesOf(text).map((line, n) =>
      this.#line(indent, 'green', (n === 0 ? prefix : ' '.repeat(prefix.length)) + this.#safe(line)),
    )
  }

  /** Maps and lists are red if the function failed. */
  #tone(color: Color): Color {
    return this.#failed ? 'red' : color
  }

  #line(indent: number, color: Color, text: string): string {
    return ' '.repeat(indent) + this.#paint(color, text)
  }
}

/** Turn the keys into text if they have different types, so that they can be sorted. */
function comparable(map: unknown): unknown {
  const entries = entriesOf(map)
  return isSortable(entries) ? map : new Map(entries.map(([key, value]) => [strOf(key), value]))
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return strOf(bytes)
  }
}
