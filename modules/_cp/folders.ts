import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Context, safePath } from 'salt-ts'
import { fnmatch, mapConcurrently, pythonRegExp } from '#internal'
import { filesBelow } from './files-below.ts'
import { cacheOf, type ServerPath } from './places.ts'

/**
 * Copy a folder of the file server, including empty folders, into `dest`. Resolves to the sorted paths of the copies.
 */
export async function fetchFolder(
  { path, saltenv }: ServerPath,
  dest: string,
  gzip: number | undefined,
  context: Context,
): Promise<string[]> {
  const { files } = context.minion
  const folder = path.replace(/\/+$/, '')
  const beginning = folder === '' ? 0 : folder.lastIndexOf('/') + 1
  const place = (found: string) => {
    const relative = safePath(found.slice(beginning))
    return relative && (dest === '' ? relative : `${dest}/${relative}`)
  }
  const isInside = (found: string) => folder === '' || found.startsWith(`${folder}/`)
  const found = (await files.list('files', saltenv, folder)).filter(isInside)
  const written = await mapConcurrently(found, async (source) => {
    const target = place(source)
    if (target === undefined) return undefined
    await mkdir(dirname(target), { recursive: true })
    const isThere = await files.fetch(source, saltenv, target, gzip ? { gzip } : {})
    if (isThere) return target
    context.log.error(`salt://${source} no longer exists, or cannot be served`)
    context.retcode = 1
    return undefined
  })
  const empty = (await files.list('emptyDirs', saltenv, folder)).filter(isInside)
  const made = await mapConcurrently(empty, async (source) => {
    const target = place(source)
    if (target !== undefined) await mkdir(target, { recursive: true })
    return target
  })
  return [...written, ...made].filter((one) => one !== undefined).sort()
}

export interface CacheFolderOptions {
  readonly include_empty: boolean
  readonly include_pat?: readonly string[] | undefined
  readonly exclude_pat?: readonly string[] | undefined
}

/** Fetch a folder into the cache. Resolves to the cached paths, in the order of the master's list. */
export async function cacheFolder(
  { path, saltenv }: ServerPath,
  { include_empty, include_pat, exclude_pat }: CacheFolderOptions,
  context: Context,
): Promise<string[]> {
  const { files } = context.minion
  const beginning = path === '' || path.endsWith('/') ? path : `${path}/`
  const isWanted = (found: string) =>
    found.startsWith(beginning) &&
    (include_pat?.some((pattern) => matches(found, pattern)) ?? true) &&
    !exclude_pat?.some((pattern) => matches(found, pattern))
  const found = (await files.list('files', saltenv, beginning)).filter(isWanted)
  const cached = await mapConcurrently(found, (source) => files.cache(source, saltenv))
  const empty = include_empty ? await files.list('emptyDirs', saltenv, beginning) : []
  const made = await mapConcurrently(
    empty.filter((one) => one.startsWith(beginning)),
    async (source) => {
      const target = files.cachedPath(source, saltenv)
      if (target !== undefined) await mkdir(target, { recursive: true, mode: 0o700 })
      return target
    },
  )
  return [...cached, ...made].filter((one) => one !== undefined)
}

/** Match a path with a shell pattern, or, after `E@`, with a regular expression that may match anywhere in the path. */
function matches(path: string, pattern: string): boolean {
  if (!pattern.startsWith('E@')) return fnmatch(path, pattern)
  return pythonRegExp(`[\\s\\S]*?(?:${pattern.slice(2)})`).matches(path)
}

/** List the cached files of an environment, and the cached copies of local files. */
export async function cachedFiles(saltenv: string, context: Context): Promise<string[]> {
  const place = safePath(saltenv)
  const folders = [...(place ? [join('files', place)] : []), 'localfiles']
  const lists = await Promise.all(folders.map((folder) => filesBelow(join(cacheOf(context), folder))))
  return lists.flat().sort()
}
