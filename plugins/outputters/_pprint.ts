/** Python's `pprint.pformat` with 80 columns and sorted maps. */
import { reprOf, SPACE, safelySorted } from './_python.ts'
import { kindOf, lengthOf, linesWithEnds, listOf } from './_values.ts'

const WIDTH = 80

/** Position of a value: its column, and how many columns closing brackets take after it. */
interface Place {
  readonly indent: number
  readonly allowance: number
  readonly level: number
  readonly step: number
}

/** Format a value. `step` is the number of spaces per level. */
export function pformat(value: unknown, step = 1): string {
  return format(value, { indent: 0, allowance: 0, level: 1, step })
}

function format(value: unknown, place: Place): string {
  const flat = reprOf(value, true)
  if (lengthOf(flat) <= WIDTH - place.indent - place.allowance) return flat
  const kind = kindOf(value)
  if (kind === 'map') return formatMap(value, place)
  if (kind === 'list') return formatList(listOf(value), place)
  if (kind === 'bytes') return formatBytes(value as Uint8Array, place)
  return kind === 'text' && value !== '' ? formatText(value as string, place) : flat
}

function formatMap(map: unknown, place: Place): string {
  const entries = safelySorted(map)
  const indent = place.indent + place.step
  const members = entries.map(([key, value], n) => {
    const label = `${reprOf(key, true)}: `
    return label + format(value, inside(place, indent + lengthOf(label), n === entries.length - 1))
  })
  return `{${' '.repeat(Math.max(place.step - 1, 0))}${members.join(`,\n${' '.repeat(indent)}`)}}`
}

function formatList(list: unknown[], place: Place): string {
  const indent = place.indent + place.step
  const members = list.map((member, n) => format(member, inside(place, indent, n === list.length - 1)))
  return `[${' '.repeat(Math.max(place.step - 1, 0))}${members.join(`,\n${' '.repeat(indent)}`)}]`
}

function inside(place: Place, indent: number, last: boolean): Place {
  return { indent, allowance: last ? place.allowance + 1 : 1, level: place.level + 1, step: place.step }
}

/** Split long text into several literals, after line ends and spaces; in parentheses at the top level. */
function formatText(text: string, { indent, allowance, level }: Place): string {
  const alone = level === 1 ? 1 : 0
  const chunks = chunksOf(text, WIDTH - indent - alone, allowance + alone)
  if (chunks.length === 1) return chunks[0] as string
  const joined = chunks.join(`\n${' '.repeat(indent + alone)}`)
  return alone ? `(${joined})` : joined
}

/** Matches words with the white space after them, as Python defines it. */
const WORDS = new RegExp(`[^${SPACE}]+[${SPACE}]*|[${SPACE}]+`, 'g')

function chunksOf(text: string, width: number, allowance: number): string[] {
  const lines = linesWithEnds(text)
  return lines.flatMap((line, n) => {
    const last = n === lines.length - 1
    const flat = reprOf(line)
    return lengthOf(flat) <= width - (last ? allowance : 0)
      ? [flat]
      : wordsOf(line, width, last ? allowance : 0)
  })
}

function wordsOf(line: string, width: number, allowance: number): string[] {
  const parts = line.match(WORDS) ?? []
  const chunks: string[] = []
  let current = ''
  parts.forEach((part, n) => {
    const limit = width - (n === parts.length - 1 ? allowance : 0)
    const fits = lengthOf(reprOf(current + part)) <= limit
    if (!fits && current !== '') chunks.push(reprOf(current))
    current = fits ? current + part : part
  })
  if (current !== '') chunks.push(reprOf(current))
  return chunks
}

/** Split bytes into literals of as many groups of four as fit on a line. */
function formatBytes(bytes: Uint8Array, { indent, allowance, level }: Place): string {
  if (bytes.length <= 4) return reprOf(bytes)
  const alone = level === 1 ? 1 : 0
  const chunks: string[] = []
  let width = WIDTH - indent - alone
  let start = 0
  for (let at = 0; at < bytes.length; at += 4) {
    if (at === Math.floor(bytes.length / 4) * 4) width -= allowance + alone
    if (reprOf(bytes.subarray(start, at + 4)).length <= width) continue
    if (at > start) chunks.push(reprOf(bytes.subarray(start, at)))
    start = at
  }
  chunks.push(reprOf(bytes.subarray(start)))
  const joined = chunks.join(`\n${' '.repeat(indent + alone)}`)
  return alone ? `(${joined})` : joined
}
