import { rm, stat } from 'node:fs/promises'
import { CommandExecutionError, type Context } from 'salt-ts'
import { linesOf } from '../_cmd/lines.ts'
import { runArchiver } from './program.ts'
import { readZipDirectory } from './zip-directory.ts'

export interface Contents {
  readonly dirs: readonly string[]
  readonly files: readonly string[]
  readonly links: readonly string[]
}

export interface Source {
  readonly saltenv: string
  readonly source_hash?: string | undefined
  readonly use_etag: boolean
}

/** Return the path of an archive on this host; one of a URL is cached first. */
export async function cacheArchive(name: string, source: Source, { call }: Context): Promise<string> {
  const { source_hash, ...rest } = source
  const cached = await call('cp.cache_file', {
    path: name,
    ...rest,
    ...(source_hash !== undefined && { source_hash }),
  })
  if (typeof cached === 'string' && cached !== '') return cached
  throw new CommandExecutionError(`Failed to cache ${name}`)
}

/** Add where the archive is on this host to an error about it, so that somebody can look at it. */
export async function located<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (!(cause instanceof CommandExecutionError)) throw cause
    const text = `${cause.message.replace(/\.$/, '')}. Additional info follows:\n\narchive location:\n    ${path}`
    throw new CommandExecutionError(text, { cause: cause.cause })
  }
}

/** Refuse an archive that does not exist, as Python does. */
export async function requireFile(path: string, before = ''): Promise<void> {
  if (await stat(path).catch(() => undefined)) return
  throw new CommandExecutionError(`${before}${missingFile(path)}`)
}

/** Python's words for a file that does not exist. */
export const missingFile = (path: string): string => `[Errno 2] No such file or directory: '${path}'`

const endings: readonly [RegExp, Format][] = [
  [/\.(tar|tar\.gz|tgz|tar\.bz2|tbz2?|tar\.xz|txz|tar\.lzma|tlz|tar\.zst)$/i, 'tar'],
  [/\.zip$/i, 'zip'],
  [/\.rar$/i, 'rar'],
]
type Format = 'tar' | 'zip' | 'rar'

/** Decide what kind of archive it is. Throws if it is none that can be read. */
export function formatOf(name: string, given: string | undefined): Format {
  if (given === 'tar' || given === 'zip' || given === 'rar') return given
  if (given) throw new CommandExecutionError(`Unsupported archive format '${given}'`)
  const path = /^\w+:\/\//.test(name) ? name.replace(/[?#].*$/, '') : name
  const [, guessed] = endings.find(([ending]) => ending.test(path)) ?? []
  if (guessed) return guessed
  throw new CommandExecutionError("Unable to guess archive format, please pass an 'archive_format' argument.")
}

/** List an archive that is on this host. `options` is a command that decompresses a tar archive. */
export async function contentsOf(
  { name, cached, options }: { name: string; cached: string; options: string | undefined },
  format: Format,
  context: Context,
): Promise<Contents> {
  if (format === 'zip') return zipContents(name, cached)
  return format === 'rar' ? rarContents(cached, context) : tarContents(name, cached, options, context)
}

async function tarContents(
  name: string,
  cached: string,
  options: string | undefined,
  context: Context,
): Promise<Contents> {
  const ask = async (decompress: string[], ...more: string[]) => {
    const words = [
      'tar',
      '--list',
      '--quoting-style=escape',
      ...more,
      ...decompress,
      '--file',
      cached,
    ] as const
    const { retcode, stdout } = await runArchiver(words, { throws: true }, context)
    if (retcode !== 0) throw new CommandExecutionError(`Unable to list contents of ${name}: ${stdout}`)
    return linesOf(stdout)
  }
  const list = async (...decompress: string[]) => ({
    names: (await ask(decompress)).map(unescaped),
    types: (await ask(decompress, '--verbose')).map((line) => line[0]),
  })
  // The command is for archives that tar cannot read by itself.
  const { names, types } = await list().catch((error) => {
    if (options) return list(`--use-compress-program=${options}`)
    throw error
  })
  const of = (wanted: (type: string | undefined) => boolean) => names.filter((_, at) => wanted(types[at]))
  return {
    dirs: of((type) => type === 'd'),
    links: of((type) => type === 'l'),
    files: of((type) => type !== 'd' && type !== 'l'),
  }
}

/** Undo tar's quoting: `\n`, `\\`, and bytes as three octal digits. */
function unescaped(name: string): string {
  if (!name.includes('\\')) return name
  const letters: Readonly<Record<string, string>> = {
    n: '\n',
    t: '\t',
    r: '\r',
    a: '\x07',
    b: '\b',
    f: '\f',
    v: '\v',
  }
  const bytes = name.replaceAll(/\\(?:([0-7]{3})|(.))/g, (_, octal?: string, letter = '') =>
    octal ? String.fromCharCode(Number.parseInt(octal, 8)) : (letters[letter] ?? letter),
  )
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

async function zipContents(name: string, cached: string): Promise<Contents> {
  const members = await readZipDirectory(cached)
  if (!members) throw new CommandExecutionError(`${name} is not a ZIP file`)
  const rest = members.filter(({ isLink, isFolder }) => !isLink && !isFolder).map((member) => member.name)
  const folders = members.filter(({ isFolder }) => isFolder).map((member) => member.name)
  const above = rest.map((path) => path.slice(0, path.lastIndexOf('/') + 1)).filter(Boolean)
  const dirs = new Set([...folders, ...above])
  return {
    dirs: [...dirs],
    files: rest.filter((path) => !dirs.has(path)),
    links: members.filter(({ isLink }) => isLink).map((member) => member.name),
  }
}

async function rarContents(cached: string, context: Context): Promise<Contents> {
  const { stdout } = await runArchiver(['rar', 'lt', cached], { throws: true }, context)
  const members = [...stdout.matchAll(/Name:\s*([^\n]+)\s*Type:\s*([^\n]+)/g)].map(
    ([, path = '', type = '']) => ({ path, isFolder: type.trim() === 'Directory' }),
  )
  if (members.length === 0)
    throw new CommandExecutionError(`Failed to list ${cached}, is it a rar file? ${stdout}`)
  return {
    dirs: members.filter(({ isFolder }) => isFolder).map(({ path }) => `${path}/`),
    files: members.filter(({ isFolder }) => !isFolder).map(({ path }) => path),
    links: [],
  }
}

/** Take away the first components of all paths; paths that have no more are left out. */
export function stripped(contents: Contents, count: number): Contents {
  const strip = (paths: readonly string[]) =>
    paths.map((path) => path.split('/').slice(count).join('/')).filter(Boolean)
  return { dirs: strip(contents.dirs), files: strip(contents.files), links: strip(contents.links) }
}

/** Return the contents sorted, with what is at the top. */
export function described({ dirs, files, links }: Contents) {
  const sorted = (paths: readonly string[]) => [...paths].sort(byCodePoint)
  const top = (paths: readonly string[]) => sorted(paths).filter((path) => !path.includes('/'))
  return {
    dirs: sorted(dirs),
    files: sorted(files),
    links: sorted(links),
    top_level_dirs: topFolders(sorted(dirs)),
    top_level_files: top(files),
    top_level_links: top(links),
  }
}

/** An archive may have files in a folder, and not the folder itself. */
function topFolders(dirs: readonly string[]): string[] {
  const top = dirs.filter((path) => path.indexOf('/') === path.length - 1)
  const [first = ''] = dirs
  const common = `${first.split('/')[0]}/`
  const isShared = first !== '' && dirs.every((path) => path.startsWith(common))
  return isShared && !top.includes(common) ? [...top, common] : top
}

export const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

export const removeCached = (path: string, { log }: Context): Promise<void> =>
  rm(path, { force: true }).catch((cause: Error) =>
    log.warn(`Failed to clean cached archive ${path}: ${cause.message}`),
  )
