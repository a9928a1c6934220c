import { CommandExecutionError } from 'salt-ts'

interface Style {
  readonly width: number
  readonly commentchar: string
  readonly borderchar: string
  readonly blockstart: string | undefined
  readonly blockend: string | undefined
  readonly title: string
  readonly text: string
}

/** Draw a box of comment lines around a centred title and a text. */
export function drawBanner({ width, commentchar, borderchar, blockstart, blockend, title, text }: Style) {
  const left = commentchar.trimEnd()
  const right = commentchar.trim()
  const room = width - left.length - right.length - 2
  if (room <= 0) throw new CommandExecutionError('Width is too small to render banner')
  const border = commentchar + borderchar.slice(0, 1).repeat(width - left.length - right.length) + right
  const space = commentchar + ' '.repeat(Math.max(width - commentchar.length * 2, 0)) + commentchar
  const lines = [
    border,
    space,
    ...wrapped(title, room).map((line) => `${left} ${centred(line, room)} ${right}`),
    space,
    ...wrapped(text, room).map((line) => `${left} ${line.padEnd(room)} ${right}`),
    border,
  ]
  return [blockstart, ...lines, blockend].filter((line) => line !== undefined).join('\n')
}

/** Python's `center`: the odd space is on the left if the width is odd. */
function centred(line: string, width: number): string {
  const spaces = width - line.length
  const before = Math.floor(spaces / 2) + (spaces % 2 && width % 2 ? 1 : 0)
  return ' '.repeat(before) + line + ' '.repeat(spaces - before)
}

/** Break a text into lines as Python's `textwrap` does: between words and after hyphens; longer words fill the line and are cut. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  const pieces = piecesOf(text)
  while (pieces.length > 0) {
    if (lines.length > 0 && pieces[0]?.trim() === '') pieces.shift()
    let line = ''
    while (pieces.length > 0 && line.length + (pieces[0] as string).length <= width) line += pieces.shift()
    const [word = ''] = pieces
    if (word.length > width) {
      const end = cutOf(word, width - line.length)
      line += word.slice(0, end)
      pieces[0] = word.slice(end)
    }
    if (line.trim() !== '') lines.push(line.trimEnd())
  }
  return lines
}

/** Where a word that is too long is cut: after its last hyphen that has room. */
function cutOf(word: string, room: number): number {
  const hyphen = word.lastIndexOf('-', room - 1)
  return room > 0 && hyphen > 0 && /[^-]/.test(word.slice(0, hyphen)) ? hyphen + 1 : room
}

/** Words, parts of words that end with a hyphen, and the spaces between. */
const piecesOf = (text: string): string[] =>
  text
    .replaceAll(/\s/g, ' ')
    .split(/(?<= )(?=[^ ])|(?<=[^ ])(?= )|(?<=[A-Za-z]{2}-)(?=[A-Za-z]{2})/)
    .filter((piece) => piece !== '')
