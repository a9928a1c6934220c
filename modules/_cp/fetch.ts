import { mkdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CommandExecutionError, type Context } from 'salt-ts'
import { readWhole } from '../_file/reading.ts'
import { hasDigest, readDigest } from './digest.ts'
import { download, readUrl, withoutPassword } from './http.ts'
import { environment, externalCopy, requireServerPath, type ServerPath, serverPath } from './places.ts'

export interface FetchOptions {
  readonly saltenv?: string | undefined
  readonly makedirs?: boolean
  readonly gzip?: number | undefined
  readonly source_hash?: string | undefined
  readonly verify_ssl?: boolean
  readonly use_etag?: boolean
}

/**
 * Fetch a file from the file server to `dest`, or into the cache if `dest` is empty. Resolves to its path, or to false if
 * the file or the destination folder does not exist.
 */
export async function fetchServerFile(
  { path, saltenv }: ServerPath,
  dest: string,
  { makedirs = false, gzip }: FetchOptions,
  { minion: { files }, log }: Context,
): Promise<string | false> {
  const options = gzip ? { gzip } : {}
  if (dest === '') return (await files.cache(path, saltenv, options)) ?? false
  const place = await insideFolder(dest, path)
  if (!(await files.hash(path, saltenv)) || !(await folderFor(place, makedirs))) {
    log.debug(`salt://${path} was not copied to ${place}: the file or the destination folder does not exist`)
    return false
  }
  return (await files.fetch(path, saltenv, place, options)) ? place : false
}

/**
 * Fetch a URL for `cp.get_url`, with Salt's results for each kind of URL. Resolves to the content if `dest` is null.
 */
export async function fetchUrl(
  url: string,
  dest: string | null,
  options: FetchOptions,
  context: Context,
): Promise<unknown> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase()
  if (scheme === 'salt') {
    const path = await fetchServerFile(
      requireServerPath(url, environment(context, options.saltenv)),
      dest ?? '',
      options,
      context,
    )
    return dest === null && path !== false ? contentOf(path) : path
  }
  if (scheme === undefined || scheme === 'file') {
    const path = scheme ? localPath(url) : url
    if (!path.startsWith('/')) throw new CommandExecutionError(`Path '${path}' is not absolute`)
    return dest === null ? contentOf(path) : path
  }
  if (scheme === 'http' || scheme === 'https') return fetchOverHttp(url, dest, options, context)
  throw new CommandExecutionError(
    `Files cannot be fetched from ${scheme}:// URLs; use salt://, http://, https:// or file://`,
  )
}

async function fetchOverHttp(
  url: string,
  dest: string | null,
  { saltenv, makedirs = false, source_hash, verify_ssl = true, use_etag = false }: FetchOptions,
  context: Context,
): Promise<unknown> {
  const digest = source_hash === undefined ? undefined : readDigest(source_hash)
  const options = { verifySsl: verify_ssl, signal: context.signal }
  if (dest === null) return textIfPossible(await readUrl(url, options))
  const cached = dest === '' ? externalCopy(url, environment(context, saltenv), context) : undefined
  if (dest === '' && cached === undefined)
    throw new CommandExecutionError(
      `${withoutPassword(url)} cannot be cached: its path leads out of the cache`,
    )
  const place = cached ?? (await insideFolder(dest, new URL(url).pathname.split('/').at(-1) || 'index.html'))
  if (digest && (await hasDigest(place, digest))) return place
  if (!(await folderFor(place, makedirs || cached !== undefined, cached ? 0o700 : undefined))) return ''
  const check = async (path: string) => {
    if (digest && !(await hasDigest(path, digest)))
      throw new CommandExecutionError(
        `${withoutPassword(url)} does not have the ${digest.type} of source_hash; it was discarded`,
      )
  }
  await download(url, place, { ...options, useEtag: use_etag, check })
  return place
}

/** Append the file's name if `dest` is a folder. */
async function insideFolder(dest: string, path: string): Promise<string> {
  const isFolder = dest.endsWith('/') || (await stat(dest).catch(() => undefined))?.isDirectory()
  return isFolder ? join(dest, basename(path)) : dest
}

async function folderFor(path: string, makedirs: boolean, mode?: number): Promise<boolean> {
  const folder = dirname(path)
  if (makedirs) await mkdir(folder, { recursive: true, ...(mode && { mode }) })
  return (await stat(folder).catch(() => undefined))?.isDirectory() ?? false
}

const localPath = (url: string): string => (url.startsWith('file:///') ? fileURLToPath(url) : url.slice(7))

/** Read a file: a string if it is valid UTF-8, else bytes. */
export async function contentOf(path: string): Promise<string | Buffer> {
  return textIfPossible(await readWhole(path))
}

function textIfPossible(content: Buffer): string | Buffer {
  const text = content.toString()
  return Buffer.from(text).equals(content) ? text : content
}

/** Fetch a URL into the cache, as {@link fetchUrl} does. Fetches each http and https URL only once per job. */
export async function cacheUrl(url: string, options: FetchOptions, context: Context): Promise<unknown> {
  const kept = new Map(context.context.get('cp.cache_file') as Map<string, unknown> | undefined)
  const key = `${url}\0${environment(context, options.saltenv)}`
  const isRemote = serverPath(url, '') === undefined && /^https?:/i.test(url)
  if (isRemote && kept.has(key)) return kept.get(key)
  const path = await fetchUrl(url, '', { ...options, makedirs: true }, context)
  if (path === false)
    context.log.error(
      `Unable to cache file '${withoutPassword(url)}' from saltenv '${environment(context, options.saltenv)}'.`,
    )
  if (isRemote) context.context.set('cp.cache_file', kept.set(key, path))
  return path
}
