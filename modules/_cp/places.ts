import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { CommandExecutionError, type Context, safePath } from 'salt-ts'

/** A file of the file server, such as `salt://path?saltenv=dev`. */
export interface ServerPath {
  readonly path: string
  readonly saltenv: string
}

const SALT = 'salt://'

export const environment = (context: Context, saltenv?: string): string =>
  saltenv || (typeof context.opts.saltenv === 'string' && context.opts.saltenv) || 'base'

/** Parse a `salt://` URL; undefined for anything else. An environment in the URL takes precedence over `saltenv`. */
export function serverPath(url: string, saltenv: string): ServerPath | undefined {
  if (!url.startsWith(SALT)) return undefined
  const [path = '', own] = url.slice(SALT.length).split(/\?(?:saltenv|env)=/, 2)
  return { path, saltenv: own && url.includes('?saltenv=') ? own : saltenv }
}

/** Parse a `salt://` URL. @throws CommandExecutionError with Salt's message for anything else */
export function requireServerPath(url: string, saltenv: string): ServerPath {
  const found = serverPath(url, saltenv)
  if (found) return found
  throw new CommandExecutionError(`Unsupported path: ${url}. A path on the file server begins with ${SALT}`)
}

/** Return the path of the cached copy of a local file. Undefined if it would lie outside of the cache. */
export function localCopy(path: string, context: Context): string | undefined {
  const place = safePath(path.replace(/^[|/]+/, ''))
  return place && join(cacheOf(context), 'localfiles', place)
}

const MAX_NAME_LENGTH = 255

/**
 * Return the cache path of a file from an http or https server: `extrn_files/<saltenv>/<host>/<path>`. Undefined for
 * other URLs, and if it would lie outside of the cache.
 */
export function externalCopy(url: string, saltenv: string, context: Context): string | undefined {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined
  // Split as written: URL would resolve "..", which has to be refused as part of a path on this disk.
  const [, host = '', path = '', query] = /^[^:]+:\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?/.exec(url) ?? []
  const name = query ? `${path}-${query}` : path
  const short = name.length > MAX_NAME_LENGTH ? createHash('sha256').update(name).digest('hex') : name
  const server = safePath((host.split('@').at(-1) ?? '').replaceAll(':', ''))
  const place = safePath(short.replace(/^\/+/, '') || 'index.html')
  const folder = safePath(saltenv)
  return server && place && folder && join(cacheOf(context), 'extrn_files', folder, server, place)
}

export const cacheOf = ({ opts }: Context): string => String(opts.cachedir)
