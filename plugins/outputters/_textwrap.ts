/** Python's `textwrap.fill`: breaks lines between words and after hyphens. */
import { lengthOf } from './_values.ts'

const SPACES = '\\t\\n\\v\\f\\r '
const PUNCTUATED = `[\\p{L}\\p{N}_!"'&.,?]`
const LETTER = '[\\p{L}_]'
const CHUNKS = new RegExp(
  [
    `[${SPACES}]+`,
    `(?<=${PUNCTUATED})-{2,}(?=[\\p{L}\\p{N}_])`,
    `[^${SPACES}]+?(?:-(?:(?<=${LETTER}{2}-)|(?<=${LETTER}-${PUNCTUATED}-))(?=${LETTER}-?${LETTER})` +
      `|(?=[${SPACES}]|$)|(?<=${PUNCTUATED})(?=-{2,}[\\p{L}\\p{N}_]))`,
  ].join('|'),
  'gu',
)

/** Wrap text. Every line begins with `margin` and has at most `width` columns. */
export function fill(text: string, width: number, margin: string): string {
  const chunks =
    withoutTabs(text)
      .replace(/[\n\v\f\r]/g, ' ')
      .match(CHUNKS) ?? []
  const room = width - margin.length
  const lines: string[] = []
  while (chunks.length > 0) {
    if (lines.length > 0 && isBlank(chunks[0])) chunks.shift()
    const line = takeLine(chunks, room)
    if (isBlank(line.at(-1))) line.pop()
    if (line.length > 0) lines.push(margin + line.join(''))
  }
  return lines.join('\n')
}

const isBlank = (chunk: string | undefined): boolean => chunk !== undefined && chunk.trim() === ''

function takeLine(chunks: string[], room: number): string[] {
  const line: string[] = []
  let left = room
  while (chunks.length > 0 && lengthOf(chunks[0] as string) <= left) {
    left -= lengthOf(chunks[0] as string)
    line.push(chunks.shift() as string)
  }
  const next = chunks[0]
  if (next === undefined || lengthOf(next) <= room) return line
  const hyphen = next.lastIndexOf('-', left - 1)
  const end = hyphen > 0 && /[^-]/.test(next.slice(0, hyphen)) ? hyphen + 1 : left
  line.push(next.slice(0, end))
  chunks[0] = next.slice(end)
  return line
}

function withoutTabs(text: string): string {
  let column = 0
  return text.replace(/[\s\S]/gu, (character) => {
    const shown = character === '\t' ? ' '.repeat(8 - (column % 8)) : character
    column = character === '\n' || character === '\r' ? 0 : column + shown.length
    return shown
  })
}
