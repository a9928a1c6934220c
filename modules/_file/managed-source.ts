/** Sources of managed files: where they are on this minion, and what their hash is. */
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { withoutPassword } from '../_cp/http.ts'
import { isEngineOfSalt, renderTemplate } from '../_template/index.ts'
import { digest, extractHash, namesHashFile, readSourceHash, type SourceSum } from './hashes.ts'
import { errorText, exists } from './paths.ts'
import { readWhole } from './reading.ts'

/** Path of the source, its hash, and what is wrong with it. */
export type Managed = [path: string | false, sum: SourceSum | Record<string, never>, comment: string]

export interface SourceOptions {
  readonly name: string
  readonly template: unknown
  /** What a template has beside what each one has: owner, mode and the like, then `defaults`, then `context`. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly source: unknown
  readonly source_hash: unknown
  readonly source_hash_name: string | undefined
  readonly saltenv: string
  readonly skip_verify: boolean
  readonly verify_ssl: boolean
  readonly use_etag: boolean
}

export const REMOTE = ['http', 'https', 'ftp', 'swift', 's3']

export const unsupported = (template: unknown): string =>
  `Specified template format ${template} is not supported`

/** What the names of rendered files begin with, as in Salt. */
const PREFIX = '__salt.tmp.'

/** Remove a rendered file when it has been used. */
export async function removeRendered(path: unknown): Promise<void> {
  if (typeof path !== 'string' || dirname(path) !== tmpdir() || !basename(path).startsWith(PREFIX)) return
  await rm(path, { force: true })
}

export const schemeOf = (source: string): string =>
  /^([a-z][a-z0-9+.-]*):/i.exec(source)?.[1]?.toLowerCase() ?? ''

export const isOnServer = (source: unknown): boolean => schemeOf(String(source ?? '')) === 'salt'

const asText = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

/** Fetch a source, if it is no file of this minion, and return its path and hash. */
export async function managedSource(wanted: SourceOptions, context: Context): Promise<Managed> {
  const source = asText(wanted.source)
  if (source === '') return ['', {}, '']
  const scheme = schemeOf(source)
  const isRemote = REMOTE.includes(scheme)
  const local =
    scheme === 'salt' || isRemote ? undefined : source.replace(/^file:\/\/(localhost(?=\/))?/i, '')
  if (local !== undefined && !(await exists(local)))
    return ['', {}, `Local file source ${local} does not exist`]
  const { sum, problem } = await sumOf(source, local, wanted, context)
  if (problem !== undefined) return ['', {}, problem]
  if (local === undefined || asText(wanted.template) !== '') {
    const path =
      local ??
      (scheme === 'salt' && asText(wanted.template) === '' ? '' : await cached(source, sum, wanted, context))
    if (typeof path !== 'string') return [path.path, {}, path.comment]
    if (path !== '' && path === wanted.name)
      throw new SaltInvocationError('Source file cannot be the same as destination')
    if (asText(wanted.template) !== '') return rendered(path, wanted, context)
    const known =
      wanted.skip_verify && isRemote ? { hash_type: 'sha256', hsum: await digest(path, 'sha256') } : sum
    return [path, known ?? {}, '']
  }
  return [local, sum ?? {}, '']
}

/** Render a source into a temporary file, which nobody else may read. */
async function rendered(path: string, wanted: SourceOptions, context: Context): Promise<Managed> {
  const template = String(wanted.template)
  if (!isEngineOfSalt(template)) return [path, {}, unsupported(template)]
  const source = (await readWhole(path)).toString()
  try {
    const text = await renderTemplate(source, template, wanted, context)
    const copy = join(tmpdir(), `${PREFIX}${randomUUID()}`)
    await writeFile(copy, text, { flag: 'wx', mode: 0o600 })
    return [copy, { hsum: await digest(copy, 'sha256'), hash_type: 'sha256' }, '']
  } catch (error) {
    return [path, {}, errorText(error)]
  }
}

interface Found {
  readonly sum?: SourceSum
  readonly problem?: string
}

async function sumOf(
  source: string,
  local: string | undefined,
  wanted: SourceOptions,
  context: Context,
): Promise<Found> {
  const { saltenv, verify_ssl, skip_verify, use_etag } = wanted
  const hash = asText(wanted.source_hash)
  if (isOnServer(source)) {
    const sum = await context.call('cp.hash_file', { path: source, saltenv })
    if (sum && typeof sum === 'object' && 'hsum' in sum) return { sum: sum as SourceSum }
    return { problem: `Source file ${source} not found in saltenv '${saltenv}'` }
  }
  if (hash === '' && local !== undefined)
    return { sum: { hsum: await digest(local, 'sha256'), hash_type: 'sha256' } }
  if (skip_verify || (hash === '' && use_etag)) return {}
  if (hash === '')
    return {
      problem: `Unable to verify upstream hash of source file ${withoutPassword(source)}, please set source_hash or set skip_verify to True`,
    }
  const names = { file_name: wanted.name, source, source_hash_name: wanted.source_hash_name }
  return sourceSum(hash, names, { saltenv, verify_ssl }, context).then(
    (sum) => ({ sum }),
    (error) => ({ problem: errorText(error) }),
  )
}

/** Read a source_hash: a hash, or the path or URL of a file of hashes. */
export async function sourceSum(
  hash: string,
  names: { file_name?: string; source?: string; source_hash_name?: string | undefined },
  { saltenv, verify_ssl }: { saltenv: string; verify_ssl: boolean },
  { call }: Context,
): Promise<SourceSum> {
  if (!namesHashFile(hash)) return readSourceHash(hash)
  const hashes = hash.startsWith('/')
    ? hash
    : await call('cp.cache_file', { path: hash, saltenv, verify_ssl })
  if (typeof hashes !== 'string' || hashes === '')
    throw new CommandExecutionError(`Source hash file ${hash} not found`)
  const found = await extractHash(hashes, '', names)
  if (found) return found
  throw new CommandExecutionError(`No hash for the file was found in ${hash}`)
}

/** The path of a source in the cache, where it is fetched to if it is not there with the hash. */
async function cached(
  source: string,
  sum: SourceSum | undefined,
  { saltenv, verify_ssl, use_etag, skip_verify }: SourceOptions,
  { call }: Context,
): Promise<string | { path: string | false; comment: string }> {
  const kept = await call('cp.is_cached', { path: source, saltenv })
  if (kept !== '' && skip_verify) return kept
  if (kept !== '' && sum && !use_etag && (await digest(kept, sum.hash_type)) === sum.hsum) return kept
  try {
    const source_hash = sum && !isOnServer(source) ? { source_hash: `${sum.hash_type}=${sum.hsum}` } : {}
    const path = await call('cp.cache_file', { path: source, saltenv, verify_ssl, use_etag, ...source_hash })
    if (typeof path === 'string' && (await exists(path))) return path
    return { path: false, comment: `Source file '${withoutPassword(source)}' not found` }
  } catch (error) {
    return { path: '', comment: `Failed to cache ${withoutPassword(source)}: ${(error as Error).message}` }
  }
}
