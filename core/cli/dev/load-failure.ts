/** Shows why a file of the author does not load: the line and column, and the code there. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../../base/errors.ts'
import { codeRoot } from '../../process/own-package.ts'

interface Place {
  readonly file: string
  readonly line: number
  /** From 1; undefined if it is not known. */
  readonly column?: number | undefined
}

/** Lines that are shown before and after the line of an error. */
const AROUND = 2

/**
 * Return the text about a file that failed to load: place and reason, then an excerpt of the code. Paths are relative to the
 * folder.
 */
export function failureText(file: string, error: unknown, folder: string): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const place = placeOf(cause) ?? placeInReason(file, messageOf(error))
  const reason = reasonOf(error)
  if (!place) return `${path.relative(folder, file)}: ${reason}`
  const shown = [path.relative(folder, place.file), place.line, place.column].filter(
    (part) => part !== undefined,
  )
  return `${shown.join(':')}: ${reason}\n${excerpt(place)}`.trimEnd()
}

/** Return the message of the loader without the place at its beginning. */
const reasonOf = (error: unknown): string => messageOf(error).replace(/^\/[^\n]*?\.[cm]?[jt]s(?::\d+)?: /, '')

function placeOf(error: unknown): Place | undefined {
  if (!(error instanceof Error)) return undefined
  const text = `${error.message}\n${error.stack ?? ''}`
  return ofCompiler(text) ?? ofLinking(text) ?? ofMissingImport(error.message) ?? ofStack(text)
}

/** The form of esbuild, which counts columns from 0: `/srv/hello.ts:4:21: ERROR: Unexpected "="`. */
function ofCompiler(text: string): Place | undefined {
  const [, file, line, column] = /^(\/.+?):(\d+):(\d+): ERROR: /m.exec(text) ?? []
  return file === undefined ? undefined : { file, line: Number(line), column: Number(column) + 1 }
}

/** The form of Node while it links modules: the path and the line, the code, and a row of `^` below the place. */
function ofLinking(text: string): Place | undefined {
  const [, url = '', line, indent] = /^((?:file:\/\/)?\/.+?):(\d+)\n.*\n( *)\^/m.exec(text) ?? []
  return url === '' ? undefined : { file: fileOf(url), line: Number(line), column: (indent?.length ?? 0) + 1 }
}

/** `Cannot find module '/srv/_text.ts' imported from /srv/hello.ts`: the line that imports it. */
function ofMissingImport(message: string): Place | undefined {
  const [, missing = '', url = ''] = /'([^']+)' imported from (\S+)/.exec(message) ?? []
  const file = fileOf(url)
  const name = path.basename(missing)
  const lines = file === '' ? [] : linesOf(file)
  const at = lines.findIndex((line) => /\b(?:from|import|require)\b/.test(line) && line.includes(name))
  if (at < 0) return undefined
  const from = lines[at]?.search(/['"]/) ?? -1
  return { file, line: at + 1, column: from + 1 }
}

/** The first frame of the stack that is in a file of the author. */
function ofStack(text: string): Place | undefined {
  const frames = text.matchAll(/^ +at (?:.*[( ])?((?:file:\/\/)?\/[^\s()]+?):(\d+):(\d+)\)?$/gm)
  for (const [, url = '', line, column] of frames) {
    const file = fileOf(url)
    if (!file.startsWith(codeRoot + path.sep) && !file.includes('/node_modules/'))
      return { file, line: Number(line), column: Number(column) }
  }
  return undefined
}

/** The loader's message begins with the path, and with the line where it is known. */
function placeInReason(file: string, message: string): Place | undefined {
  const line = message.startsWith(`${file}:`) ? /^(\d+):/.exec(message.slice(file.length + 1)) : null
  return line ? { file, line: Number(line[1]) } : undefined
}

const fileOf = (url: string): string => {
  const bare = url.replace(/\?.*/, '')
  return bare.startsWith('file:') ? fileURLToPath(bare) : bare
}

/** Return the lines around a place, with numbers, a `>` at its line and a `^` below its column. */
function excerpt({ file, line, column }: Place): string {
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

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}
