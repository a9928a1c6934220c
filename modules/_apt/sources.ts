import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { replaceFile } from '#internal'
import { readApt } from './command.ts'

/** A repository that apt reads packages from. */
export interface Source {
  readonly type: string
  /** Options in brackets as they are written, such as `arch=amd64`. */
  readonly options: readonly string[]
  readonly uri: string
  readonly dist: string
  readonly comps: readonly string[]
  readonly disabled: boolean
  readonly comment: string
}

/** A line of a file of sources; one that is a comment or cannot be parsed has no source. */
export interface SourceLine {
  readonly file: string
  readonly text: string
  readonly source?: Source
}

/** A repository as functions return it. */
export interface Repo {
  readonly file: string
  readonly comps: readonly string[]
  readonly disabled: boolean
  readonly dist: string
  readonly type: string
  readonly uri: string
  readonly line: string
  readonly architectures: readonly string[]
  readonly signedby: string
}

/** Where apt is configured to find its sources. */
export interface SourcePaths {
  /** `/etc/apt/sources.list` */
  readonly list: string
  /** `/etc/apt/sources.list.d` */
  readonly parts: string
}

/** Ask apt for the places of its sources. */
export async function sourcePaths(context: Context): Promise<SourcePaths> {
  const words = [
    'apt-config',
    'shell',
    'LIST',
    'Dir::Etc::sourcelist/f',
    'PARTS',
    'Dir::Etc::sourceparts/d',
  ] as const
  const { stdout } = await readApt(words, context)
  const value = (name: string) => new RegExp(`^${name}='(.*?)/?'$`, 'm').exec(stdout)?.[1]
  return {
    list: value('LIST') ?? '/etc/apt/sources.list',
    parts: value('PARTS') ?? '/etc/apt/sources.list.d',
  }
}

/** Read all lines of the files in the format of one line for each source. */
export async function readLines(paths: SourcePaths): Promise<SourceLine[]> {
  const files = [paths.list, ...(await filesIn(paths.parts, '.list'))]
  const lines = await Promise.all(
    files.map(async (file) => ((await readFileOf(file)) ?? '').split('\n').map((text) => ({ file, text }))),
  )
  return lines
    .flatMap((found) => (found.at(-1)?.text === '' ? found.slice(0, -1) : found))
    .map((line) => ({ ...line, ...sourceOf(line.text) }))
}

export function repoOf(file: string, line: string, source: Source): Repo {
  const { comps, disabled, dist, type, uri } = source
  return { file, comps, disabled, dist, type, uri, line, ...optionsOf(source) }
}

/** The architectures and the key file of a source. */
export function optionsOf({ options }: Source): { architectures: string[]; signedby: string } {
  const value = (name: string) =>
    options.find((option) => option.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
  return { architectures: value('arch').split(',').filter(Boolean), signedby: value('signed-by') }
}

const LINE =
  /^\s*(#?)[\s#]*(deb|deb-src|rpm|rpm-src)\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+([^\s#]+)([^#]*)(?:#(.*))?$/

/** Parse a line of a file of sources. Undefined if it defines none. */
export function parseSource(text: string): Source | undefined {
  const [, hash, type, options = '', uri, dist, comps = '', comment = ''] = LINE.exec(text) ?? []
  if (type === undefined || uri === undefined || dist === undefined || !/^[\w+.-]+:/.test(uri))
    return undefined
  return {
    type,
    options: wordsOf(options),
    uri,
    dist,
    comps: wordsOf(comps),
    disabled: hash === '#',
    comment: comment.trimEnd(),
  }
}

function sourceOf(text: string): { source?: Source } {
  const source = parseSource(text)
  return source ? { source } : {}
}

/** Write a source as a line. */
export function formatSource(source: Source): string {
  const { type, options, uri, dist, comps, disabled, comment } = source
  const bracket = options.length > 0 ? [`[${options.join(' ')}]`] : []
  const words = [...(disabled ? ['#'] : []), type, ...bracket, uri, dist, ...comps]
  return [...words, ...(comment ? [`#${comment}`] : [])].join(' ')
}

/**
 * Write the lines of files. A file without lines is removed if it is one of the folder of parts. Returns the files that
 * were removed.
 */
export async function writeLines(
  files: Iterable<string>,
  lines: readonly SourceLine[],
  paths: SourcePaths,
): Promise<string[]> {
  const removed: string[] = []
  for (const file of files) {
    const texts = lines.filter((line) => line.file === file).map(({ text }) => `${text}\n`)
    if (texts.length === 0 && file.startsWith(`${paths.parts}/`)) {
      await rm(file, { force: true })
      removed.push(file)
    } else await replaceFile(file, texts.join(''))
  }
  return removed
}

export const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean)

/** List the files of a folder whose names have an ending, sorted. */
export async function filesIn(folder: string, ending: string): Promise<string[]> {
  const exists = await stat(folder).catch(() => undefined)
  const names = exists ? await readdir(folder) : []
  return names
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(folder, name))
}

/** Read a file of sources; undefined if there is none. */
export async function readFileOf(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw new CommandExecutionError(`The file of sources ${file} cannot be read: ${cause.code}`)
  })
}
