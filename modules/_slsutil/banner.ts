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

/** Break a text into lines, between words and after hyphens within them; longer words are cut. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const piece of piecesOf(text, width)) {
    if ((line + piece.trimEnd()).length > width) {
      lines.push(line.trimEnd())
      line = ''
    }
    line += line === '' && lines.length > 0 ? piece.trimStart() : piece
  }
  return line.trim() === '' ? lines : [...lines, line.trimEnd()]
}

function piecesOf(text: string, width: number): string[] {
  const words = text.replaceAll(/\s/g, ' ').split(/(?<= )(?=[^ ])|(?<=[A-Za-z]{2}-)(?=[A-Za-z]{2})/)
  return words.flatMap((word) => word.match(new RegExp(`.{1,${width}} *`, 'g')) ?? [])
}
