import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { CommandExecutionError, type Context, safePath } from 'salt-ts'

/** A file of the file server, as `salt://path?saltenv=dev` names it. */
export interface ServerPath {
  readonly path: string
  readonly saltenv: string
}

const SALT = 'salt://'

export const environment = (context: Context, saltenv?: string): string =>
  saltenv || (typeof context.opts.saltenv === 'string' && context.opts.saltenv) || 'base'

/** Undefined for what is no `salt://` URL. An environment in the URL wins. */
export function serverPath(url: string, saltenv: string): ServerPath | undefined {
  if (!url.startsWith(SALT)) return undefined
  const [path = '', own] = url.slice(SALT.length).split(/\?(?:saltenv|env)=/, 2)
  return { path, saltenv: own && url.includes('?saltenv=') ? own : saltenv }
}

/** @throws CommandExecutionError with Salt's sentence for what is no `salt://` URL */
export function requireServerPath(url: string, saltenv: string): ServerPath {
  const found = serverPath(url, saltenv)
  if (found) return found
  throw new CommandExecutionError(`Unsupported path: ${url}. A path on the file server begins with ${SALT}`)
}

/** Where a copy of a file of this host is kept. */
export function localCopy(path: string, context: Context): string | undefined {
  const place = safePath(path.replace(/^[|/]+/, ''))
  return place && join(cacheOf(context), 'localfiles', place)
}

const LONGEST = 255

/**
 * Where the cache keeps what came from another server: `extrn_files/<saltenv>/<host>/<path>`. Undefined for what is no
 * such URL, or would lie elsewhere.
 */
export function externalCopy(url: string, saltenv: string, context: Context): string | undefined {
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined
  // As it is written: URL would take ".." out of it, and a path of the server is not one of this disk.
  const [, host = '', path = '', query] = /^[^:]+:\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?/.exec(url) ?? []
  const name = query ? `${path}-${query}` : path
  const short = name.length > LONGEST ? createHash('sha256').update(name).digest('hex') : name
  const server = safePath((host.split('@').at(-1) ?? '').replaceAll(':', ''))
  const place = safePath(short.replace(/^\/+/, '') || 'index.html')
  const folder = safePath(saltenv)
  return server && place && folder && join(cacheOf(context), 'extrn_files', folder, server, place)
}

export const cacheOf = ({ opts }: Context): string => String(opts.cachedir)
