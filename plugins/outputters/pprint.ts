/** As Python's `pprint` lays values out: 80 columns, maps sorted. `--out-indent`: spaces per level. */
import { outputter } from 'salt-ts'
import { reprOf } from './_python.ts'
import { kindOf, linesWithEnds, listOf, sortedEntriesOf } from './_values.ts'

const WIDTH = 80

/** Where a value stands: its column, and how many columns after it are taken by closing brackets. */
interface Place {
  readonly indent: number
  readonly allowance: number
  readonly level: number
  readonly step: number
}

export default outputter({
  render(value, { indent }) {
    const step = typeof indent === 'number' && indent >= 0 ? indent : 1
    return format(value, { indent: 0, allowance: 0, level: 1, step })
  },
})

function format(value: unknown, place: Place): string {
  const flat = reprOf(value, true)
  if (flat.length <= WIDTH - place.indent - place.allowance) return flat
  const kind = kindOf(value)
  if (kind === 'map') return formatMap(value, place)
  if (kind === 'list') return formatList(listOf(value), place)
  return kind === 'text' && value !== '' ? formatText(value as string, place) : flat
}

function formatMap(map: unknown, place: Place): string {
  const entries = sortedEntriesOf(map)
  const indent = place.indent + place.step
  const members = entries.map(([key, value], n) => {
    const label = `${reprOf(key, true)}: `
    return label + format(value, inside(place, indent + label.length, n === entries.length - 1))
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

/** Long text becomes several literals, broken after lines and spaces; in parentheses if it stands alone. */
function formatText(text: string, { indent, allowance, level }: Place): string {
  const alone = level === 1 ? 1 : 0
  const chunks = chunksOf(text, WIDTH - indent - alone, allowance + alone)
  if (chunks.length === 1) return chunks[0] as string
  const joined = chunks.join(`\n${' '.repeat(indent + alone)}`)
  return alone ? `(${joined})` : joined
}

function chunksOf(text: string, width: number, allowance: number): string[] {
  const lines = linesWithEnds(text)
  return lines.flatMap((line, n) => {
    const last = n === lines.length - 1
    const flat = reprOf(line)
    return flat.length <= width - (last ? allowance : 0) ? [flat] : wordsOf(line, width, last ? allowance : 0)
  })
}

function wordsOf(line: string, width: number, allowance: number): string[] {
  const parts = line.match(/\S+\s*|\s+/g) ?? []
  const chunks: string[] = []
  let current = ''
  parts.forEach((part, n) => {
    const limit = width - (n === parts.length - 1 ? allowance : 0)
    const fits = reprOf(current + part).length <= limit
    if (!fits && current !== '') chunks.push(reprOf(current))
    current = fits ? current + part : part
  })
  if (current !== '') chunks.push(reprOf(current))
  return chunks
}
