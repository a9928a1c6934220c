/** Shows why a file of the author does not load: the line and column, and the code there. */
import path from 'node:path'
import { messageOf } from '../../base/errors.ts'
import { type ErrorPlace, linesOf, placesIn } from '../../loader/files/error-place.ts'

/** Lines that are shown before and after the line of an error. */
const AROUND = 2

/**
 * Return the text about a file that failed to load: place and reason, then an excerpt of the code. Paths are relative to the
 * folder.
 */
export function failureText(file: string, error: unknown, folder: string): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const place = placesIn(cause)[0] ?? placeInReason(file, messageOf(error))
  const reason = reasonOf(error)
  if (!place) return `${path.relative(folder, file)}: ${reason}`
  const shown = [path.relative(folder, place.file), place.line, place.column].filter(
    (part) => part !== undefined,
  )
  return `${shown.join(':')}: ${reason}\n${excerpt(place)}`.trimEnd()
}

/** Return the message of the loader without the place at its beginning. */
const reasonOf = (error: unknown): string => messageOf(error).replace(/^\/[^\n]*?\.[cm]?[jt]s(?::\d+)?: /, '')

/** The loader's message begins with the path, and with the line where it is known. */
function placeInReason(file: string, message: string): ErrorPlace | undefined {
  const line = message.startsWith(`${file}:`) ? /^(\d+):/.exec(message.slice(file.length + 1)) : null
  return line ? { file, line: Number(line[1]) } : undefined
}

/** Return the lines around a place, with numbers, a `>` at its line and a `^` below its column. */
function excerpt({ file, line, column }: ErrorPlace): string {
  const lines = linesOf(file)
  const first = Math.max(1, line - AROUND)
  const shown = lines.slice(first - 1, line + AROUND)
  const width = String(first + shown.length - 1).length
  return shown
    .flatMap((code, index) => {
      const number = first + index
      const mark = number === line ? '>' : ' '
      const row = `  ${mark} ${String(number).padStart(width)} | ${code}`.trimEnd()
      const isPointed = number === line && column !== undefined
      return isPointed ? [row, `    ${' '.repeat(width)} | ${indentLike(code, column - 1)}^`] : [row]
    })
    .join('\n')
}

/** Return white space as wide as the beginning of a line, whose tabs stay tabs. */
const indentLike = (code: string, columns: number): string =>
  code.slice(0, columns).padEnd(columns).replace(/[^\t]/g, ' ')
