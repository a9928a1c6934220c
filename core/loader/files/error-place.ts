/** The places in files that an error of an import names. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeRoot } from '../../process/own-package.ts'

export interface ErrorPlace {
  readonly file: string
  readonly line: number
  /** From 1; undefined if it is not known. */
  readonly column?: number | undefined
}

/** List the places: what the compiler and Node say, then the frames of the stack that are in files of the author. */
export function placesIn(error: unknown): ErrorPlace[] {
  if (!(error instanceof Error)) return []
  const text = `${error.message}\n${error.stack ?? ''}`
  return [...ofCompiler(text), ...ofLinking(text), ...ofMissingImport(error.message), ...ofStack(text)]
}

/** Read the form of esbuild, which counts columns from 0: `/srv/hello.ts:4:21: ERROR: Unexpected "="`. */
const ofCompiler = (text: string): ErrorPlace[] =>
  [...text.matchAll(/^(\/.+?):(\d+):(\d+): ERROR: /gm)].map(([, file = '', line, column]) => ({
    file,
    line: Number(line),
    column: Number(column) + 1,
  }))

/** Read the form of Node while it links modules: the path and the line, the code, and a row of `^` below the place. */
function ofLinking(text: string): ErrorPlace[] {
  const [, url = '', line, indent] = /^((?:file:\/\/)?\/.+?):(\d+)\n.*\n( *)\^/m.exec(text) ?? []
  return url === '' ? [] : [{ file: fileOf(url), line: Number(line), column: (indent?.length ?? 0) + 1 }]
}

/** `Cannot find module '/srv/_text.ts' imported from /srv/hello.ts`: the line that imports it. */
function ofMissingImport(message: string): ErrorPlace[] {
  const [, missing = '', url = ''] = /'([^']+)' imported from (\S+)/.exec(message) ?? []
  const file = fileOf(url)
  const name = path.basename(missing)
  const lines = file === '' ? [] : linesOf(file)
  const at = lines.findIndex((line) => /\b(?:from|import|require)\b/.test(line) && line.includes(name))
  if (at < 0) return []
  const from = lines[at]?.search(/['"]/) ?? -1
  return [{ file, line: at + 1, column: from + 1 }]
}

/** The file of a program of salt-ts. Frames of compiled code name it where it was built. */
const isProgram = (file: string): boolean => /\/dist\/programs\/.*\.cjs$/.test(file)

const isAuthors = (file: string): boolean =>
  !file.startsWith(codeRoot + path.sep) && !isProgram(file) && !file.includes('/node_modules/')

function ofStack(text: string): ErrorPlace[] {
  const frames = text.matchAll(/^ +at (?:.*[( ])?((?:file:\/\/)?\/[^\s()]+?):(\d+):(\d+)\)?$/gm)
  return [...frames]
    .map(([, url = '', line, column]) => ({ file: fileOf(url), line: Number(line), column: Number(column) }))
    .filter(({ file }) => isAuthors(file))
}

const fileOf = (url: string): string => {
  const bare = url.replace(/\?.*/, '')
  return bare.startsWith('file:') ? fileURLToPath(bare) : bare
}

/** Return the lines of a file; none if it cannot be read. */
export function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}
