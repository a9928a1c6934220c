import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { ask } from '../_http/request.ts'
import { exists } from './paths.ts'

type Chosen = [source: unknown, hash: unknown]

/** Return the first source of a list that exists, with its hash. What is no list is returned as it is. */
export async function firstSource(
  source: unknown,
  hash: unknown,
  saltenv: string,
  context: Context,
): Promise<Chosen> {
  if (!Array.isArray(source)) return [source ?? null, hash ?? null]
  const onMaster = new Map<string, Set<string>>()
  for (const single of source) {
    const [url, own] =
      single !== null && typeof single === 'object' ? (onlyEntry(single) ?? []) : [String(single)]
    if (url !== undefined && (await isThere(url, saltenv, onMaster, context)))
      return [url, own || (hash ?? null)]
  }
  throw new CommandExecutionError('none of the specified sources were found')
}

/** A source and its hash; a map with several keys names none. */
function onlyEntry(map: object): [string, unknown] | undefined {
  const entries = Object.entries(map)
  return entries.length === 1 ? entries[0] : undefined
}

async function isThere(
  url: string,
  saltenv: string,
  onMaster: Map<string, Set<string>>,
  context: Context,
): Promise<boolean> {
  if (url.startsWith('salt://')) return isOnMaster(url, saltenv, onMaster, context)
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase()
  if (scheme === 'http' || scheme === 'https') return answers(url, context)
  if (scheme === 'file') return exists(url.slice('file://'.length).replace(/^localhost(?=\/)/, ''))
  if (scheme !== undefined)
    throw new SaltInvocationError(
      `Files cannot be fetched from ${scheme}:// URLs; use salt://, http://, https:// or file://`,
    )
  return url.startsWith('/') && exists(url)
}

async function isOnMaster(
  url: string,
  saltenv: string,
  onMaster: Map<string, Set<string>>,
  { call }: Context,
): Promise<boolean> {
  const [path = '', own] = url.slice('salt://'.length).split('?saltenv=', 2)
  const env = own || saltenv
  const known =
    onMaster.get(env) ??
    new Set<string>([
      ...(await call('cp.list_master', { saltenv: env })),
      ...(await call('cp.list_master_dirs', { saltenv: env })),
    ])
  onMaster.set(env, known)
  return known.has(path.replace(/^\/+|\/+$/g, ''))
}

async function answers(url: string, { signal }: Context): Promise<boolean> {
  if (!URL.canParse(url)) return false
  const address = new URL(url)
  try {
    const login = [address.username, address.password].map(decodeURIComponent).join(':')
    const headers: Record<string, string> =
      login === ':' ? {} : { Authorization: `Basic ${Buffer.from(login).toString('base64')}` }
    address.username = ''
    address.password = ''
    const limits = { timeout: HEAD_TIMEOUT_SECONDS, max_body: 0, signal }
    return (await ask(address, { method: 'HEAD', headers: new Headers(headers) }, limits)).response.ok
  } catch {
    signal.throwIfAborted()
    return false
  }
}

const HEAD_TIMEOUT_SECONDS = 30
