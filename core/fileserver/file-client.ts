import type { Stats } from 'node:fs'
import { mkdir, open, realpath, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FileClient, FileHash } from '../author/files.ts'
import { fillFileAtomic } from '../base/atomic-file.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { isBelow } from '../base/open-inside.ts'
import { safePath } from '../base/safe-path.ts'
import { asNumber, isRecord } from '../wire/bytes.ts'
import { type Ask, type Download, download } from './download.ts'
import { hashOf } from './file-hashes.ts'

export interface FileClientSettings {
  /** Send the load of a request about files and give the answer. */
  readonly ask: Ask
  readonly cachedir: string
}

const lists = { files: '_file_list', dirs: '_dir_list', emptyDirs: '_file_list_emptydirs' } as const

/** Files of a file server, wherever it is: behind the wire protocol (§7.4) or in this process. */
export function openFileClient({ ask: asked, cachedir }: FileClientSettings): FileClient {
  const ask: Ask = (load) => asked(load).catch(notAnswered)
  const list: FileClient['list'] = async (what, saltenv, prefix = '') =>
    textsIn(await ask({ cmd: lists[what], saltenv, prefix }))

  const hash: FileClient['hash'] = async (path, saltenv) =>
    readHash(await ask({ cmd: '_file_hash', path, saltenv }))

  const cachedPath: FileClient['cachedPath'] = (path, saltenv) => {
    const place = safePath(path.replace(/^\|/, ''))
    const environment = safePath(saltenv)
    return place && environment && join(cachedir, 'files', environment, place)
  }

  /** What is to be brought to `dest`; false if it is there already, undefined if there is no such file. */
  async function missing(file: Download, dest: string): Promise<Bring | false | undefined> {
    const again = () => hash(file.path, file.saltenv)
    const wanted = await again()
    if (!wanted) return undefined
    const there = await stat(dest).catch(() => undefined)
    const isThere = there?.isFile() && (await hashOfPath(dest, wanted.hash_type)) === wanted.hsum
    return isThere ? false : { ask, file, wanted, again }
  }

  return {
    envs: async () => textsIn(await ask({ cmd: '_file_envs' })),
    list,
    links: async (saltenv, prefix = '') => {
      const links = await ask({ cmd: '_symlink_list', saltenv, prefix })
      if (!isRecord(links)) throw noList()
      return links as Record<string, string>
    },
    hash,
    stat: async (path, saltenv) => {
      const found = await ask({ cmd: '_file_find', path, saltenv })
      const facts = isRecord(found) && Array.isArray(found.stat) ? found.stat.map(asNumber) : undefined
      return facts?.every((fact) => fact !== undefined) ? (facts as number[]) : undefined
    },
    cachedPath,
    cache: async (path, saltenv, options = {}) => {
      const dest = cachedPath(path, saltenv)
      const bring = dest === undefined ? undefined : await missing({ path, saltenv, ...options }, dest)
      if (dest === undefined || bring === undefined) return undefined
      if (bring === false) return dest
      await makeRoom(dest, join(cachedir, 'files'))
      return (await anew(bring, dest, { durable: false })) ? dest : undefined
    },
    fetch: async (path, saltenv, dest, options = {}) => {
      const bring = await missing({ path, saltenv, ...options }, dest)
      return bring ? replace(bring, dest) : bring === false
    },
  }
}

function notAnswered(error: unknown): never {
  const message = `The file server did not answer: ${messageOf(error)}`
  throw new SaltError('COMMAND_EXECUTION', message, { unanswered: true }, { cause: error })
}

interface Bring {
  readonly ask: Ask
  readonly file: Download
  readonly wanted: FileHash
  /** The hash as it is now. */
  again(): Promise<FileHash | undefined>
}

/** False if there is no such file any more. */
async function replace(bring: Bring, dest: string): Promise<boolean> {
  const there = await stat(dest).catch(() => undefined)
  if (there && !there.isFile()) return intoPlace(bring, dest)
  return anew(bring, there ? await realpath(dest) : dest, keeping(there))
}

const TRIES = 3

/** A file that is changed on the master while it comes is asked for again. */
async function anew(
  { ask, file, wanted: first, again }: Bring,
  dest: string,
  options: Parameters<typeof fillFileAtomic>[2],
): Promise<boolean> {
  let wanted: FileHash | undefined = first
  for (let tries = 1; wanted; tries++) {
    const expected: FileHash = wanted
    try {
      await fillFileAtomic(dest, (handle) => download(ask, file, expected, handle), options)
      return true
    } catch (error) {
      if (!SaltError.is(error) || error.data.changed !== true || tries === TRIES) throw error
      wanted = await again()
    }
  }
  return false
}

/** What is no regular file, as a terminal or a pipe, is written to and not replaced. */
async function intoPlace({ ask, file, wanted }: Bring, dest: string): Promise<boolean> {
  const handle = await open(dest, 'w')
  try {
    await download(ask, file, wanted, handle)
    return true
  } catch (error) {
    const message = `${messageOf(error)} ${dest} is no regular file, and was given what came until then.`
    throw new SaltError('COMMAND_EXECUTION', message, {}, { cause: error })
  } finally {
    await handle.close()
  }
}

function keeping(there: Stats | undefined): Parameters<typeof fillFileAtomic>[2] {
  if (!there) return { mode: 0o666 & ~process.umask() }
  const { mode, uid, gid } = there
  return { mode: mode & 0o7777, ...(process.getuid?.() === 0 && { owner: { uid, gid } }) }
}

/** What once was a folder may be a file now, and the other way round. */
async function makeRoom(dest: string, cache: string): Promise<void> {
  for (let above = dirname(dest); above !== cache && isBelow(above, cache); above = dirname(above)) {
    if ((await stat(above).catch(() => undefined))?.isFile()) await rm(above)
  }
  await mkdir(dirname(dest), { recursive: true, mode: 0o700 })
  const there = await stat(dest).catch(() => undefined)
  if (there?.isDirectory()) await rm(dest, { recursive: true })
}

/** The digest of a file of this host. */
async function hashOfPath(path: string, type: string): Promise<string> {
  const handle = await open(path)
  try {
    return await hashOf(handle, type)
  } finally {
    await handle.close()
  }
}

const HASHES = new Set(['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'])

/** @throws SaltError COMMAND_EXECUTION for a hash that is not known here */
function readHash(answer: unknown): FileHash | undefined {
  if (!isRecord(answer)) return undefined
  const { hash_type, hsum } = answer
  if (typeof hash_type !== 'string' || typeof hsum !== 'string') return undefined
  if (HASHES.has(hash_type)) return { hash_type, hsum }
  throw new SaltError(
    'COMMAND_EXECUTION',
    `The master hashes files with ${hash_type}, which is not known here; set hash_type: sha256 in its configuration.`,
  )
}

/** An answer that is no list says that the master failed, not that there is nothing. */
function textsIn(answer: unknown): string[] {
  if (Array.isArray(answer)) return answer.filter((item): item is string => typeof item === 'string')
  throw noList()
}

const noList = (): SaltError =>
  new SaltError(
    'COMMAND_EXECUTION',
    'The file server could not list its files. The log of the master says why; try again when that is repaired.',
  )
